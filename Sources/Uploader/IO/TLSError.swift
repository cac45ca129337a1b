/// Why TLS was refused or broke off.
public enum TLSError: Error, Equatable, Sendable {
  /// The server's certificate was not accepted; `code` is OpenSSL's X509_V_ERR_…, `reason` its words.
  case certificate(code: Int, reason: String)
  /// The server's key is not one of those that were pinned; `actual` can be given to `--pin`.
  case pinMismatch(actual: String)
  /// The handshake failed for another reason, in OpenSSL's words.
  case handshake(reason: String)
  /// The server refused with an alert of this number (RFC 8446, 6.2), here in words.
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
