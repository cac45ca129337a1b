import Testing
import UploadCore

/// What the certificates that a server shows add to OpenSSL's verdict.
struct RejectedCertificateTests {
  private static let now: Int64 = 1_795_000_000
  private static let day: Int64 = 86_400

  private func rejected(
    _ code: Int, hosts: String = "hive.example", subject: String = "hive", issuers: [(String, Int64)] = [],
    validUntil: Int64 = now + day, asked host: String = "hive.example"
  ) -> TLSError {
    let facts = TLSFacts(
      summary: "TLSv1.3", subject: subject, hosts: hosts, issuer: "R11", authority: "Root X1",
      issuers: issuers.map { TLSFacts.Issuer(name: $0.0, validUntilSeconds: $0.1) }, validFromSeconds: 0,
      validUntilSeconds: validUntil)
    return TLSError(rejected: code, reason: "no", facts, host: host, now: RejectedCertificateTests.now)
  }

  private static let good = ("R11", now + day)

  @Test(arguments: [10, 2, 20]) func anExpiredIssuerIsNamed(code: Int) {
    let issuers = [RejectedCertificateTests.good, ("Root X1", RejectedCertificateTests.day)]
    let problem = ChainProblem.expiredIssuer(name: "Root X1", place: 3, day: "1970-01-02")
    #expect(rejected(code, issuers: issuers) == .chain(problem, reason: "no"))
    // The server's own comes first.
    #expect(
      rejected(10, issuers: issuers, validUntil: RejectedCertificateTests.now) == .certificate(code: 10, reason: "no"))
  }

  @Test(arguments: [2, 20, 21]) func aMissingIssuerIsNotAnUnknownAuthority(code: Int) {
    #expect(rejected(code) == .chain(.missingIssuer(name: "R11"), reason: "no"))
    let known = rejected(code, issuers: [RejectedCertificateTests.good])
    #expect(known == .chain(.unknownAuthority(name: "Root X1"), reason: "no"))
  }

  @Test(arguments: [18, 19, 20, 21]) func anUntrustedCertificateOfAnotherIsAPortals(code: Int) {
    let portals = TLSError.chain(.foreign(hosts: "login.hotel.example"), reason: "no")
    #expect(rejected(code, hosts: "login.hotel.example") == portals)
    #expect(rejected(code, hosts: "", subject: "login.hotel.example") == portals)
  }

  @Test(arguments: [
    ("hive.example", "HIVE.example."), ("*.example", "hive.example"), ("a.example, 192.0.2.7", "192.0.2.7"),
    ("::1", "::1"), (String(repeating: "a.example, ", count: 20), "hive.example"),
  ])
  func aWildcardForTheHostIsNotForAnother(hosts: String, host: String) {
    #expect(rejected(18, hosts: hosts, asked: host) == .certificate(code: 18, reason: "no"))
  }

  @Test func aWildcardIsForOneLabel() {
    #expect(
      rejected(18, hosts: "*.example", asked: "a.b.example") == .chain(.foreign(hosts: "*.example"), reason: "no"))
  }

  @Test func anAuthorityThatHasExpiredHereIsNotTheServersFault() {
    let problem = TLSError.chain(.expiredAuthority(name: "Root X1"), reason: "no")
    #expect(rejected(10) == problem && rejected(10, issuers: [RejectedCertificateTests.good]) == problem)
    let ends = RejectedCertificateTests.now
    #expect(rejected(10, validUntil: ends) == .certificate(code: 10, reason: "no"))
  }

  @Test(arguments: [9, 62]) func otherReasonsForARejectionStay(code: Int) {
    #expect(rejected(code) == .certificate(code: code, reason: "no"))
  }
}
