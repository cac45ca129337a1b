/// Whether interrupted requests may be repeated.
enum RetrySafety: Equatable, Sendable {
  case allowed
  case forbidden
  /// No: the server may have stored the recording, and would store it twice.
  case couldStoreTwice
}
