/// Why TLS failed.
public enum TLSError: Error, Equatable, Sendable {
  /// The server's certificate was rejected; `code` is OpenSSL's X509_V_ERR_…, `reason` its text.
  case certificate(code: Int, reason: String)
  /// The same, because of the certificates that came with it. `reason` is OpenSSL's text.
  case chain(ChainProblem, reason: String)
  /// The server's key is not pinned; `actual` is its pin.
  case pinMismatch(actual: String)
  /// The handshake failed for another reason, in OpenSSL's words.
  case handshake(reason: String)
  /// The server sent an alert with this number (RFC 8446, 6.2) and name, during the handshake or after it.
  case alert(Int, words: String)
  /// The server closed the connection before the handshake finished.
  case closedDuringHandshake
  /// A record could not be read or written after the handshake.
  case broken(reason: String)
  /// The connection ended in the middle of a response without close_notify, so it may have been truncated (RFC 8446, 6.1).
  case truncated
  /// A file with certificates or keys cannot be used.
  case unusableFile(path: String, reason: String)
  case unusablePin(String)
  case outOfMemory
}

/// Why the certificates that a server shows do not lead to one that this machine trusts.
public enum ChainProblem: Equatable, Sendable {
  /// One of those above the server's own has expired: the one with this name, which is at this place of those that the server sends.
  case expiredIssuer(name: String, place: Int, day: String)
  /// The authority with this name has expired, as this machine knows it. All that the server sends is current.
  case expiredAuthority(name: String)
  /// The server's own certificate has come alone, without that of its issuer.
  case missingIssuer(name: String)
  /// This machine does not know the authority with this name.
  case unknownAuthority(name: String)
  /// The server's own certificate is for these hosts, and not for the one that was asked.
  case foreign(hosts: String)
}

extension TLSError {
  /// A certificate that OpenSSL has rejected.
  /// - Parameters:
  ///   - code: X509_V_ERR_…
  ///   - reason: OpenSSL's text for it.
  ///   - host: the one that was asked.
  ///   - now: in seconds since 1970.
  package init(rejected code: Int, reason: String, _ facts: TLSFacts, host: String, now: Int64) {
    let isUntrusted = TLSError.untrusted.contains(code)
    let expired = facts.issuers.firstIndex { (1..<now).contains($0.validUntilSeconds) }
    if isUntrusted, !facts.isFor(host) {
      self = .chain(.foreign(hosts: facts.hosts.isEmpty ? facts.subject : facts.hosts), reason: reason)
    } else if let expired, facts.validUntilSeconds > now, isUntrusted || code == TLSError.expired {
      let issuer = facts.issuers[expired]
      let day = String(Timestamp.text(seconds: issuer.validUntilSeconds).prefix(10))
      self = .chain(.expiredIssuer(name: issuer.name, place: expired + 2, day: day), reason: reason)
    } else if code == TLSError.expired, facts.validUntilSeconds > now {
      self = .chain(.expiredAuthority(name: facts.authority), reason: reason)
    } else if TLSError.withoutIssuer.contains(code) {
      self =
        facts.issuers.isEmpty
        ? .chain(.missingIssuer(name: facts.issuer), reason: reason)
        : .chain(.unknownAuthority(name: facts.authority), reason: reason)
    } else {
      self = .certificate(code: code, reason: reason)
    }
  }

  /// X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, …_LOCALLY and X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE.
  private static let withoutIssuer = [2, 20, 21]
  /// These, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT and X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN.
  private static let untrusted = withoutIssuer + [18, 19]

  /// X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL.
  static let notYetValid = 9
  static let expired = 10

  /// Whether an alert after the handshake refuses this client for good, so that no retry can help. Other alerts concern only
  /// the connection.
  /// - Parameter alert: its number (RFC 8446, 6.2).
  package static func isRefusal(alert: Int) -> Bool {
    switch alert {
    // handshake_failure, protocol_version, insufficient_security, unrecognized_name
    case 40, 70, 71, 112: true
    default: isAboutClientCertificate(alert: alert)
    }
  }

  /// bad_certificate, unsupported_certificate, certificate_revoked, certificate_expired, certificate_unknown; unknown_ca,
  /// access_denied; decrypt_error, for an invalid signature; certificate_required.
  package static func isAboutClientCertificate(alert: Int) -> Bool {
    switch alert {
    case 42...46, 48, 49, 51, 116: true
    default: false
    }
  }
}
