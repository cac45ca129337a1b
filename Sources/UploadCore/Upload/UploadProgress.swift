/// How far an upload is.
public struct UploadProgress: Equatable, Sendable {
  /// Bytes of the file that the server's kernel has acknowledged, as far as this side's kernel knows.
  public let deliveredBytes: Int64
  /// The file's size.
  public let totalBytes: Int64

  package init(deliveredBytes: Int64, totalBytes: Int64) {
    self.deliveredBytes = deliveredBytes
    self.totalBytes = totalBytes
  }
}
