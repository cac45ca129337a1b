/// The next step of a task.
enum TaskStep: Equatable, Sendable {
  case ask(HTTPRequest)
  case hash(HashRange)
  case save(RecordChange)
  /// Wait for the requests in flight.
  case await
  case finished(Outcome)
  /// The server does not support tus, and the recording may be sent as a form.
  case fallBackToMultipart
}
