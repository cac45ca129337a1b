/// What GigHive's response to a call other than an upload means.
package enum GigHiveVerdict: Equatable, Sendable {
  /// The recording does not exist, or no longer.
  case absent
  /// 403 to a delete call: the token is unknown.
  case deleteTokenUnknown
  /// The upload is unknown, perhaps not noticed yet.
  case uploadUnknown
  /// GigHive has not noticed that the upload is complete, or never will.
  case uploadNotWritten
  /// GigHive has taken the upload's file out of the tus server, and has no recording of it. Only a new upload helps, unless another
  /// finalize call is still making the recording.
  case uploadTaken
  /// The upload token is unknown or has expired.
  case guestTokenUnknown
  /// The upload token is valid; the call named no upload.
  case guestTokenKnown
  /// An existing recording; nil for unknown values. `mediaPath`: that of its file (``GigHiveAPI/mediaPath(fileType:fileName:sha256:)``).
  case recording(checksum: String?, sizeBytes: Int64?, mediaPath: String?)
  case refused(status: Int, message: String)
}
