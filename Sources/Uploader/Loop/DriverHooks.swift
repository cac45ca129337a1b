import UploadCore

/// Who is told how an upload goes, and who keeps its record.
struct DriverHooks {
  var onProgress: (UploadProgress) -> Void = { _ in }
  var onRetry: (Retry) -> Void = { _ in }
  /// Brings a change of the record to the disk.
  var save: (RecordChange) throws(UploadError) -> Void = { (_) throws(UploadError) in }
}
