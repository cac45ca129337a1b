/// Why TLS failed.
public enum TLSError: Error, Equatable, Sendable {
  /// The server's certificate was rejected; `code` is OpenSSL's X509_V_ERR_…, `reason` its text.
  case certificate(code: Int, reason: String)
  /// The server's key is not pinned; `actual` is its pin.
  case pinMismatch(actual: String)
  /// The handshake failed for another reason, in OpenSSL's words.
  case handshake(reason: String)
  /// The server refused with an alert of this number (RFC 8446, 6.2), here in words: in the handshake, or behind it.
  case alert(Int, words: String)
  /// The server ended the connection before the handshake was done.
  case closedDuringHandshake
  /// A record could not be read or written in the middle of the connection.
  case broken(reason: String)
  /// The connection ended without close_notify in the middle of an answer: somebody may have cut it (RFC 8446, 6.1).
  case truncated
  /// A file with certificates or keys cannot be used.
  case unusableFile(path: String, reason: String)
  case unusablePin(String)
  case outOfMemory
}

extension TLSError {
  /// Whether a retry can help.
  var isTransient: Bool {
    switch self {
    case .broken, .truncated, .closedDuringHandshake: true
    case .certificate, .pinMismatch, .handshake, .alert, .unusableFile, .unusablePin, .outOfMemory: false
    }
  }

  /// Can a request that had gone out as a whole have been carried out? A server that does not accept the client's certificate
  /// has not looked at what came with it: under TLS 1.3 its alert comes behind the handshake, when the request is under way.
  var leavesOutcomeOpen: Bool {
    if case .alert(let number, _) = self { !TLSError.isAboutClientCertificate(alert: number) } else { true }
  }

  /// Does an alert that comes behind the handshake refuse this client for good, so that no further try can help? The others are
  /// about the connection.
  /// - Parameter alert: its number (RFC 8446, 6.2).
  package static func isRefusal(alert: Int) -> Bool {
    switch alert {
    // handshake_failure, protocol_version, insufficient_security, unrecognized_name
    case 40, 70, 71, 112: true
    default: isAboutClientCertificate(alert: alert)
    }
  }

  /// bad_certificate, unsupported_certificate, certificate_revoked, certificate_expired, certificate_unknown; unknown_ca,
  /// access_denied; decrypt_error, for a signature that is wrong; certificate_required.
  private static func isAboutClientCertificate(alert: Int) -> Bool {
    switch alert {
    case 42...46, 48, 49, 51, 116: true
    default: false
    }
  }
}
