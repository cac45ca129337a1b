/// What the client knows of the sent file, to compare with the server's response.
public struct SentFile: Equatable, Sendable {
  /// Bytes.
  public let size: Int64
  /// SHA-256 in lower-case hexadecimal digits, if it was computed.
  public let sha256: String?

  package init(size: Int64, sha256: String?) {
    self.size = size
    self.sha256 = sha256
  }
}
