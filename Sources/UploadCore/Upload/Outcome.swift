/// The outcome of an upload, of the removal of one, or of a question about one.
package enum Outcome: Equatable, Sendable {
  case delivered(Receipt, SentFile, resumedFrom: Int64)
  /// The upload has ended. `isKept`: the server cannot end uploads, and keeps its part until that expires.
  case cancelled(isKept: Bool)
  /// The recording is no longer on the server.
  /// - Parameter wasGone: it was not there any more.
  case deleted(wasGone: Bool)
  /// GigHive was asked about a recording.
  case examined(Presence)
}
