/// An event in an upload.
package enum UploadEvent: Equatable, Sendable {
  /// The oldest request in flight was answered.
  case answered(Answer)
  /// The requests in flight will get no response.
  case interrupted(Interruption)
  /// The requested range was hashed.
  case hashed(HashResult)
  /// The last byte of the newest request in flight, which announces it, is about to be sent.
  case lastByteNext
  /// Only the file's status (ctime) has changed since it was opened, not its size or modification time.
  case statusChanged(StatusChange)
  /// The credentials were read again. `areNew`: whether they differ from the refused ones.
  case credentials(areNew: Bool)
  /// A local failure, such as of the file or the record, ends the upload.
  case failed(UploadError)
}
