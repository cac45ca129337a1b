import UploadCore

/// The callbacks of a driver, and the saving of its record.
struct DriverHooks {
  var onProgress: (UploadProgress) -> Void = { _ in }
  var onRetry: (Retry) -> Void = { _ in }
  /// The response behind the retry or the outcome that is reported next.
  var onAnswer: (RedactedAnswer) -> Void = { _ in }
  /// The server has refused a form as too large, and tus is tried.
  var onFormTooLarge: () -> Void = {}
  /// Saves a change of the record on disk.
  var save: (RecordChange) throws(UploadError) -> Void = { (_) throws(UploadError) in }
}
