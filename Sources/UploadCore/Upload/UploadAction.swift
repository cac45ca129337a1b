/// The next action for an upload.
package enum UploadAction: Equatable, Sendable {
  /// Send the request. If another one is in flight, pipeline it on the same connection (RFC 9112, 9.3.2).
  case send(HTTPRequest, over: ConnectionChoice)
  case hash(HashRange)
  /// Save the change in the upload's record, so that it survives a power cut, before anything else.
  case save(RecordChange)
  /// Read the credentials again, after they were refused.
  case renewCredentials
  /// Tell the user about a failed attempt that will be retried.
  case reportRetry(Retry)
  /// Tell the user that the server does not support tus, and that the recording is sent as a form.
  case reportFallback(to: UploadProtocol)
  /// Tell the user that the file is not, or may not be, the one that was sent in part, and is sent again from the start.
  case reportOtherFile
  /// Nothing is in flight. An event before that time is not expected.
  case wait(untilMilliseconds: Int64)
  /// Wait for the next event.
  case await
  case finished(Outcome)
  case failed(UploadError)
}
