/// What a server has revealed about itself in a TLS handshake.
package struct TLSFacts: Equatable, Sendable {
  /// Protocol, cipher suite and key exchange: "TLSv1.3 TLS_AES_128_GCM_SHA256 X25519".
  package let summary: String
  /// The names in its certificate, made printable; empty if there is none.
  package let subject: String
  package let issuer: String
  /// In seconds since 1970; 0 if unreadable.
  package let validFromSeconds: Int64
  package let validUntilSeconds: Int64

  package init(
    summary: String, subject: String, issuer: String, validFromSeconds: Int64, validUntilSeconds: Int64
  ) {
    self.summary = summary
    self.subject = subject
    self.issuer = issuer
    self.validFromSeconds = validFromSeconds
    self.validUntilSeconds = validUntilSeconds
  }
}
