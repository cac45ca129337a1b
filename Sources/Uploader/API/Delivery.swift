import UploadCore

/// A delivery that the server has confirmed.
public struct Delivery: Sendable {
  /// What the server said.
  public let receipt: Receipt
  /// The file's size in bytes, and its SHA-256 in hexadecimal digits if it was computed.
  public let file: SentFile
  /// Bytes that the server had of it from an earlier process.
  public let resumedFrom: Int64
  /// From the request's first byte to the answer's last.
  public let durationMilliseconds: Int64
  /// The ID of its record, if one was kept.
  public let upload: String?
}
