/// The connection to use for a request.
package enum ConnectionChoice: Equatable, Sendable {
  /// An open one, if its server has not ended it; otherwise a new one.
  case reused
  /// An open one that its server has promised to keep open (`Connection: keep-alive`); otherwise a new one.
  case reusedIfPromised
  /// A new one, now and for all requests to this origin, because its server closes connections without notice.
  case fresh
}
