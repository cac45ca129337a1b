import Testing
import UploadCore

/// What findings come of the facts.
struct ChecksTests {
  private let now = Limits.builtOn + 86_400
  private let full = SystemError(code: 28)

  private func word(_ finding: Finding?) -> String { finding?.result.word ?? "none" }

  private func text(_ finding: Finding?) -> String {
    switch finding?.result {
    case .ok(let text), .warning(let text, _), .notExamined(let text): text
    case .failure(_, let about, _, _): about
    case nil: ""
    }
  }

  private func error(_ finding: Finding?) -> UploadError? {
    if case .failure(let error, _, _, _) = finding?.result { error } else { nil }
  }

  private var wanted: ProbeResult {
    let result = ProbeResult()
    result.isContinued = true
    return result
  }

  // MARK: The machine

  private func clock(_ now: Int64, usesTLS: Bool = false, datesEvents: Bool = false) -> Finding {
    MachineChecks.clock(now: now, usesTLS: usesTLS, datesEvents: datesEvents)
  }

  @Test func aClockBeforeTheBuildBreaksTLSAndDates() {
    #expect(word(clock(now, usesTLS: true)) == "ok")
    let past = clock(100, usesTLS: true, datesEvents: true)
    #expect(word(past) == "failure" && text(past).hasPrefix("the clock says 1970-01-01 00:01 UTC"))
    if case .tls(.certificate, _)? = error(past) {} else { Issue.record("another error") }
    #expect(error(clock(100, datesEvents: true)) == .form(.unknownToday))
    #expect(word(clock(100)) == "warning")
    #expect(word(clock(Limits.builtOn, usesTLS: true)) == "ok")
    #expect(word(clock(Limits.builtOn - 1, usesTLS: true)) == "failure")
  }

  @Test func missingEntropyIsAWarning() {
    #expect(
      word(MachineChecks.entropy(isReady: true)) == "ok" && word(MachineChecks.entropy(isReady: false)) == "warning")
  }

  @Test func tooLittleMemoryIsAFailure() {
    #expect(word(MachineChecks.memory(available: Limits.memoryNeeded)) == "ok")
    #expect(error(MachineChecks.memory(available: Limits.memoryNeeded - 1)) == .outOfResources("memory"))
    #expect(word(MachineChecks.memory(available: nil)) == "not examined")
  }

  @Test func tooFewDescriptorsAreAFailure() {
    #expect(word(MachineChecks.openFiles(10, error: nil)) == "ok")
    #expect(error(MachineChecks.openFiles(10, error: SystemError(code: 24))) == .outOfResources("file descriptors"))
  }

  private func stateDirectory(
    free: Int64 = Limits.stateSpaceComfortable, files: Int64 = 1, _ error: SystemError? = nil, isNeeded: Bool = true
  ) -> Finding {
    MachineChecks.stateDirectory(
      "/var/lib/x", error: error, noSpace: full, space: FreeSpace(bytes: free, files: files),
      isNeeded: isNeeded)
  }

  @Test func theStateDirectoryNeedsSpaceAndPermission() {
    let unknown = MachineChecks.stateDirectory("/x", error: nil, noSpace: full, space: nil, isNeeded: true)
    #expect(word(unknown) == "ok" && word(stateDirectory()) == "ok")
    #expect(word(stateDirectory(free: Limits.stateSpaceComfortable - 1)) == "warning")
    #expect(error(stateDirectory(free: Limits.stateSpaceNeeded - 1)) == .state(.unusable("/var/lib/x", full)))
    let denied = SystemError(code: 13)
    #expect(error(stateDirectory(denied)) == .state(.unusable("/var/lib/x", denied)))
  }

  @Test func aFileSystemCanRunOutOfFiles() {
    let finding = stateDirectory(files: 0)
    #expect(error(finding) == .state(.unusable("/var/lib/x", full)) && text(finding).hasPrefix("no more files can be"))
  }

  @Test func aFormNeedsNoRecord() {
    for finding in [
      stateDirectory(free: 0, isNeeded: false), stateDirectory(files: 0, isNeeded: false),
      stateDirectory(SystemError(code: 13), isNeeded: false),
    ] {
      #expect(word(finding) == "warning" && text(finding).hasSuffix("but without a record."))
    }
  }

  // MARK: TLS and clocks

  private func certificate(days: Int64) -> Finding {
    let facts = TLSFacts(
      summary: "TLSv1.3", subject: "gighive.example", issuer: "R11", validFromSeconds: now - 1,
      validUntilSeconds: now + days * 86_400)
    return ServerChecks.certificate(facts, host: "gighive.example", now: now)
  }

  @Test func aCertificateThatExpiresSoonIsAWarning() {
    #expect(word(certificate(days: 14)) == "ok")
    #expect(text(certificate(days: 14)).hasPrefix("the certificate of gighive.example, issued by R11, is valid until"))
    #expect(word(certificate(days: 13)) == "warning" && text(certificate(days: 13)).hasSuffix(": 13 days left."))
    #expect(
      text(certificate(days: 1)).hasSuffix(": 1 day left.") && text(certificate(days: 0)).hasSuffix(": 0 days left."))
  }

  @Test func aCertificateThatIsNotTrustedIsDescribed() {
    let facts = TLSFacts(
      summary: "TLSv1.3", subject: "hive", hosts: "a.example, b.example", issuer: "R11",
      validFromSeconds: 0, validUntilSeconds: now)
    let own = ServerChecks.description(facts, isForAnother: false)
    #expect(own.hasPrefix("It is for hive, issued by R11, valid from 1970-01-01 to 20"))
    let other = ServerChecks.description(facts, isForAnother: true)
    #expect(other.hasPrefix("It is for a.example, b.example, issued by"))
    #expect(other.contains("a login page of this network") && !own.contains("a login page"))
  }

  @Test(arguments: ["FortiGate CA", "Zscaler Root CA", "mitmproxy"]) func aProgramThatDecryptsTLSIsNamed(issuer: String)
  {
    let facts = TLSFacts(
      summary: "TLSv1.3", subject: "hive", issuer: issuer, validFromSeconds: 0, validUntilSeconds: now)
    let text = ServerChecks.description(facts, isForAnother: true)
    #expect(text.contains("decrypts TLS here") && !text.contains("a login page"))
  }

  @Test func clocksMayDifferByFiveMinutes() {
    func check(_ difference: Int64) -> Finding? {
      ServerChecks.clock(
        Answer(
          status: 200, fields: [Field("Date", "Tue, 24 Nov 2026 00:00:00 GMT")],
          receivedAtSeconds: now + difference))
    }
    #expect(word(check(300)) == "ok" && word(check(-300)) == "ok")
    #expect(word(check(301)) == "warning" && word(check(-301)) == "warning")
    #expect(text(check(301 - now + HTTPDate.seconds("Tue, 24 Nov 2026 00:00:00 GMT")!)).hasSuffix(": 5 min apart."))
    #expect(word(ServerChecks.clock(Answer(status: 200))) == "none")
    #expect(word(ServerChecks.clock(Answer(status: 200, fields: [Field("Date", "yesterday")]))) == "none")
  }

  // MARK: Limits

  private func limits(
    of kind: LimitChecks.Kind = .form, isAvoided: Bool = false, _ results: (ProbeResult, Int64)...
  ) -> Finding? {
    var checks = LimitChecks(kind, needed: 100, isOnlyCheck: false, isAvoided: isAvoided)
    for (result, length) in results where checks.finding == nil { checks.add(result, of: length) }
    checks.finish()
    return checks.finding
  }

  @Test func theWantedAnswerPasses() {
    #expect(word(limits((wanted, 10), (wanted, 100))) == "ok")
    #expect(text(limits((wanted, 10), (wanted, 100))).hasPrefix("a form of 100 B passes"))
    #expect(word(limits()) == "none")
  }

  @Test func aRefusalOfANeededLengthIsAFailure() {
    let finding = limits((wanted, 10), (answered(413), 100), (wanted, 1000))
    #expect(error(finding) == .refused(status: 413, message: "") && text(finding) == "a form of 100 B (10 B passes)")
    #expect(text(limits((answered(413), 10))) == "a form of 10 B")
  }

  @Test func aRefusalOfAnAvoidableLengthIsAWarning() {
    let nginx = answered(413, "<center>nginx</center>")
    let form = limits((wanted, 100), (nginx, 1000))
    #expect(
      word(form) == "warning" && text(form).hasPrefix("nginx refuses a form of 1.0 kB (413) (100 B passes); longer"))
    #expect(text(limits(of: .patch, (wanted, 100), (nginx, 1000))).hasSuffix("halve their requests until they pass."))
  }

  @Test func aLimitOfFormsIsAFailureWithoutTus() {
    var checks = LimitChecks(.form, needed: 100, isOnlyCheck: true)
    checks.add(wanted, of: 100)
    checks.add(answered(413), of: 1000)
    #expect(word(checks.finding) == "warning" && text(checks.finding).hasSuffix("longer recordings would be refused."))
  }

  /// An upload then goes over tus.
  @Test func aLimitThatTusAvoidsIsAWarning() {
    var checks = LimitChecks(.form, needed: 100, isOnlyCheck: false, hasTus: true)
    checks.add(wanted, of: 10)
    checks.add(answered(413, "<center>nginx</center>"), of: 100)
    #expect(word(checks.finding) == "warning" && text(checks.finding).contains("(10 B passes)"))
    #expect(text(checks.finding).contains("must go over tus (--protocol tus"))
  }

  /// Their pages are the same. ModSecurity comes before the password, LimitRequestBody after it.
  @Test(arguments: [(413, "SecRequestBodyLimit"), (401, "LimitRequestBody")])
  func apachesLimitsAreToldApart(status: Int, setting: String) {
    var checks = LimitChecks(.form, needed: 100, isOnlyCheck: false)
    checks.add(answered(413, "<address>Apache/2.4.62"), of: 100)
    #expect(checks.refusedByApache == 100)
    checks.addWithoutCredentials(answered(status))
    guard case .failure(_, _, _, let remedy?) = checks.finding?.result else {
      Issue.record("no remedy")
      return
    }
    #expect(remedy.hasPrefix("Raise " + setting))
  }

  @Test func anyFailureAboveALengthThatPassesIsALimit() {
    #expect(error(limits((wanted, 10), (answered(502), 100))) == .refused(status: 502, message: ""))
    #expect(error(limits((wanted, 10), (answered(400), 100))) == .refused(status: 400, message: ""))
  }

  @Test func otherRefusalsSayNothingAboutLengths() {
    #expect(word(limits((answered(404), 10))) == "not examined")
    #expect(word(limits((answered(417), 10))) == "not examined")
    #expect(word(limits((ProbeResult(), 10))) == "not examined")
    #expect(error(limits((answered(503), 10))) == .refused(status: 503, message: ""))
    let lost = UploadError.connectionLost(.awaitingAnswer, peer: "x", nil)
    #expect(error(limits((ProbeResult(error: lost), 10))) == lost)
  }

  @Test func anUnknownUploadIsTheRightAnswerToATusRequest() {
    let gone = answered(404, "", [Field("Tus-Resumable", "1.0.0")])
    #expect(word(limits(of: .patch, (gone, 10), (gone, 100))) == "ok")
    #expect(word(limits(of: .patch, (gone, 10), (answered(413), 100))) == "failure")
  }

  @Test func aRefusedPatchFailsUploads() {
    #expect(error(limits(of: .patch, (answered(403), 10))) == .refused(status: 403, message: ""))
    #expect(error(limits(of: .patch, (answered(405), 10))) == .tus(.refused(method: "PATCH", status: 405)))
    let missing = answered(412, "", [Field("Tus-Resumable", "1.0.0"), Field("Tus-Version", "1.0.0")])
    #expect(error(limits(of: .patch, (missing, 10))) == .tus(.versionNotSupported(offered: "1.0.0")))
    let bare = answered(412, "", [Field("Tus-Resumable", "1.0.0")])
    #expect(error(limits(of: .patch, (bare, 10))) == .tus(.versionNotSupported(offered: "1.0.0")))
    #expect(word(limits(of: .patch, (answered(418), 10))) == "not examined")
  }

  @Test(arguments: [405, 413, 502]) func aFailureThatCanBeAvoidedIsAWarning(status: Int) {
    let finding = limits(of: .patch, isAvoided: true, (answered(status), 10))
    #expect(word(finding) == "warning" && text(finding).hasSuffix("over tus would fail."))
  }

  @Test func aPatchThatGetsThroughAsAPostIsAWarning() {
    func finding(_ answer: ProbeResult) -> Finding? {
      var checks = LimitChecks(.patch, needed: 100, isOnlyCheck: false)
      checks.add(answered(405), of: 10)
      #expect(checks.isMethodRefused)
      checks.addOverride(answer)
      return checks.finding
    }
    #expect(word(finding(answered(404, "", [Field("Tus-Resumable", "1.0.0")]))) == "warning")
    #expect(word(finding(answered(405))) == "failure")
  }

  @Test func anUnknownProgramWithALimitIsQuoted() {
    let refusal = answered(413)
    refusal.signature = "Server: tiny"
    for finding in [limits((refusal, 10)), limits((wanted, 100), (refusal, 1000))] {
      switch finding?.result {
      case .failure(_, _, _, let remedy), .warning(_, let remedy):
        #expect(remedy == "Its response has Server: tiny: raise the limit there.")
      default: Issue.record("no finding")
      }
    }
  }

  @Test func redirectsWithinTheOriginAreFollowed() throws {
    let root = try TargetURI("https://gighive/api/")
    func next(_ status: Int, _ location: String, _ method: String = "GET", of target: TargetURI? = nil) -> String? {
      let request = HTTPRequest(method: method, target: target ?? root)
      return answered(status, "", [Field("Location", location)]).redirection(of: request)?.text
    }
    #expect(next(308, "/band/") == "https://gighive/band/" && next(307, "x") == "https://gighive/api/x")
    #expect(next(307, "https://other/api/") == nil && next(307, "http://gighive/api/") == nil)
    #expect(next(302, "/band/") == nil && next(308, "/api/") == nil)
    // What is written or deleted there keeps its name.
    let object = try TargetURI("https://gighive/api/test")
    for method in ["PUT", "MOVE", "DELETE"] {
      #expect(next(308, "/api/", method, of: object) == nil && next(307, "/a/other", method, of: object) == nil)
      #expect(next(307, "/dav/test", method, of: object) == "https://gighive/dav/test")
    }
    #expect(next(307, "/a/other", "POST", of: object) != nil)
  }

  @Test func aProxysRefusalHasARemedy() {
    #expect(ProxyChecks.remedy(status: 407) == nil)
    #expect(ProxyChecks.remedy(status: 403)?.contains("rules") == true)
    #expect(ProxyChecks.remedy(status: 502)?.contains("cannot reach the server") == true)
  }

  // MARK: Requests

  @Test(arguments: [0, 5] as [Int64])
  func theTestFormIsWholeAndHasNoLabel(length: Int64) throws {
    let boundary = Boundary(random: [UInt8](repeating: 7, count: 16))
    let request = try DiagnosisRequests.unlabelledForm(TargetURI("https://gighive/"), length: length, boundary)
    let body = try #require(request.body)
    let text = String(decoding: body.header + body.footer, as: UTF8.self)
    #expect(text.hasPrefix("--" + boundary.text + "\r\n") && text.hasSuffix("\r\n--" + boundary.text + "--\r\n"))
    #expect(!ASCII.contains(body.header, "label") && body.fileLength == length)
    #expect(!request.mayExpectContinue)
  }

  @Test func announcedContentIsOnlyAnnounced() throws {
    let base = try TargetURI("https://gighive/files/")
    let request = DiagnosisRequests.announcedPatch(base, length: 90, overridesMethod: false)
    #expect(request.mayExpectContinue && request.contentLength == 90 && request.body?.header.isEmpty == true)
    #expect(request.method == "PATCH")
    #expect(request.target.text == "https://gighive/files/00000000000000000000000000000000")
    let overriding = DiagnosisRequests.announcedPatch(base, length: 90, overridesMethod: true)
    #expect(overriding.method == "POST" && overriding.fields.first("X-HTTP-Method-Override") == "PATCH")
  }
}
