import UploadCore

/// The result of locking the record of an upload.
package enum RecordLocking {
  case locked(StateLock, UploadRecord)
  /// Another process has locked it.
  case busy
  /// There is no such record, or no longer.
  case gone
}
