/// What a tus server's response means (tus.io/protocols/resumable-upload).
package enum TusVerdict: Equatable, Sendable {
  /// 2xx with an `Upload-Offset`, in bytes.
  case offset(Int64)
  /// 2xx without one.
  case success(status: Int)
  /// 404, 410: the upload is unknown, or no longer known.
  case gone
  /// 409: the server is at another offset, or has locked the upload.
  case conflict
  /// 423
  case locked
  /// 412: the server supports other versions.
  case unsupportedVersion(offered: String)
  /// 413
  case tooLarge
  /// 460 (the checksum extension)
  case checksumMismatch
  case refused(status: Int)
}
