/// What happens to an upload.
package enum UploadEvent: Equatable, Sendable {
  /// The oldest request under way was answered.
  case answered(Answer)
  /// No answer will come to the requests under way.
  case interrupted(Interruption)
  /// The range that was to be hashed has been.
  case hashed(HashResult)
  /// The file's status has changed since it was opened, and neither its size nor its modification time.
  case statusChanged(StatusChange)
  /// Credentials were looked for: are there others than those that were refused?
  case credentials(areNew: Bool)
  /// Something on this side failed, such as the file or the record, and ends the upload.
  case failed(UploadError)
}
