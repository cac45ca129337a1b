/// What a server has revealed about itself in a TLS handshake.
package struct TLSFacts: Equatable, Sendable {
  /// Protocol, cipher suite and key exchange: "TLSv1.3 TLS_AES_128_GCM_SHA256 X25519".
  package let summary: String
  /// A certificate that the server has shown beside its own.
  package struct Issuer: Equatable, Sendable {
    let name: String
    let validUntilSeconds: Int64

    package init(name: String, validUntilSeconds: Int64) {
      self.name = name
      self.validUntilSeconds = validUntilSeconds
    }
  }

  /// The names in its certificate, made printable; empty if there is none.
  package let subject: String
  /// "gighive.example, 192.0.2.7": whom it is for.
  package let hosts: String
  package let issuer: String
  /// The issuer of the last certificate that the server has shown.
  let authority: String
  /// The certificates above it, in the order in which the server has shown them.
  package let issuers: [Issuer]
  /// In seconds since 1970; 0 if unreadable.
  package let validFromSeconds: Int64
  package let validUntilSeconds: Int64

  package init(
    summary: String, subject: String, hosts: String = "", issuer: String, authority: String = "",
    issuers: [Issuer] = [], validFromSeconds: Int64, validUntilSeconds: Int64
  ) {
    self.summary = summary
    self.subject = subject
    self.hosts = hosts
    self.issuer = issuer
    self.authority = authority
    self.issuers = issuers
    self.validFromSeconds = validFromSeconds
    self.validUntilSeconds = validUntilSeconds
  }

  /// Whether the certificate names this host, or may: a long list of names is cut, and an IPv6 address has several spellings.
  func isFor(_ host: String) -> Bool {
    if hosts.utf8.count > 200 || host.utf8.contains(UInt8(ascii: ":")) { return true }
    let host = ASCII.lowercased(host.hasSuffix(".") ? String(host.dropLast()) : host)
    let names = hosts.split(separator: ",").map { ASCII.lowercased(String($0.drop { $0 == " " })) }
    if names.isEmpty { return subject.isEmpty || ASCII.lowercased(subject) == host }
    return names.contains { name in
      if name == host { return true }
      guard name.hasPrefix("*."), let dot = host.firstIndex(of: ".") else { return false }
      return host[dot...] == name.dropFirst()
    }
  }
}
