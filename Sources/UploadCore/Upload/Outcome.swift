/// What an upload, or the removal of one, came to.
package enum Outcome: Equatable, Sendable {
  case delivered(Receipt, SentFile, resumedFrom: Int64)
  /// The upload has ended. `isKept`: the server ends no uploads, and keeps what it has until that expires.
  case cancelled(isKept: Bool)
  /// The recording is not on the server any more.
  case deleted
}
