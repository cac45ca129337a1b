/// What a tus server says (tus.io/protocols/resumable-upload).
package enum TusAnswer: Equatable, Sendable {
  /// 2xx with an `Upload-Offset`: bytes that the server has.
  case offset(Int64)
  /// 2xx without one.
  case success(status: Int)
  /// 404, 410: it does not know the upload (any more).
  case gone
  /// 409: it is at another offset, or the upload is locked.
  case conflict
  /// 423
  case locked
  /// 412: it speaks other versions.
  case unsupportedVersion(offered: String)
  /// 413
  case tooLarge
  /// 460 (the checksum extension)
  case checksumMismatch
  case refused(status: Int)
}
