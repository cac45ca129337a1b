/// The progress of an upload.
public struct UploadProgress: Equatable, Sendable {
  /// The number of bytes of the file that the peer has acknowledged.
  public let deliveredBytes: Int64
  /// The file's size in bytes.
  public let totalBytes: Int64

  package init(deliveredBytes: Int64, totalBytes: Int64) {
    self.deliveredBytes = deliveredBytes
    self.totalBytes = totalBytes
  }
}
