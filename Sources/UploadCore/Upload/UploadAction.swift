/// What is to be done next for an upload.
package enum UploadAction: Equatable, Sendable {
  /// Send the request. While another one is under way: behind it on the same connection (RFC 9112, 9.3.2).
  case send(HTTPRequest, over: ConnectionChoice)
  case hash(HashRange)
  /// Write the change into the upload's record, so that it survives a power cut, before anything else is done.
  case save(RecordChange)
  /// Look for credentials other than those that were refused.
  case renewCredentials
  /// A try has failed; tell that another one follows.
  case tell(Retry)
  /// The server speaks no tus: tell that the recording goes as a form.
  case tellMultipartFallback
  case wait(untilMilliseconds: Int64)
  /// Nothing, before the next event.
  case await
  case finished(Outcome)
  case failed(UploadError)
}
