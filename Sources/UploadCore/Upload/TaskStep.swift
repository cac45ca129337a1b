/// What a task wants next.
enum TaskStep: Equatable, Sendable {
  case ask(HTTPRequest)
  case hash(HashRange)
  case save(RecordChange)
  /// Nothing before the requests under way are answered.
  case await
  case finished(Outcome)
  /// The server speaks no tus, and the recording may go as a form.
  case fallBackToMultipart
}

/// May requests be repeated that were interrupted?
enum Repetition: Equatable, Sendable {
  case allowed
  case forbidden
  /// The server may have stored what it was sent, and would store it once more.
  case couldStoreTwice
}
