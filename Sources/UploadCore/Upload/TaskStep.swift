/// The next step of a task.
enum TaskStep: Equatable, Sendable {
  case ask(HTTPRequest)
  case hash(HashRange)
  case save(RecordChange)
  /// Tell the user that the file is not, or may not be, the one that was sent in part, and is sent again from the start.
  case reportOtherFile
  /// Wait for the requests in flight.
  case await
  case finished(Outcome)
  /// The server does not support tus, and the recording may be sent as a form.
  case fallBackToMultipart
}
