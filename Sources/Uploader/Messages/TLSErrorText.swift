import UploadCore

extension TLSError {
  /// The message without advice.
  func problem(host: String) -> String {
    switch self {
    case .certificate(_, let reason), .chain(_, let reason):
      "the certificate of " + host + " was rejected: " + reason + "."
    case .pinMismatch(let actual):
      "the key of " + host + " does not match the pin; it is " + actual + "."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "."
    case .alert(_, let words): "TLS with " + host + " failed: the server says: " + words + "."
    case .closedDuringHandshake:
      "TLS with " + host + " failed: the server closed the connection during the handshake."
    case .broken(let reason): "the TLS connection to " + host + " broke: " + reason + "."
    case .truncated: "the TLS connection to " + host + " was cut off in the middle of the response."
    case .unusableFile(let path, let reason): PrintableText.line(path) + " cannot be used for TLS: " + reason + "."
    case .unusablePin(let pin):
      "\"" + PrintableText.line(pin) + "\" is not a pin; use sha256// followed by the Base64 of the key's SHA-256."
    case .outOfMemory: "not enough memory for TLS."
    }
  }
}
