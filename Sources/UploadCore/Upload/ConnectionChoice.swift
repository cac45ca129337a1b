/// Over which connection a request goes.
package enum ConnectionChoice: Equatable, Sendable {
  /// One that is open from before, if there is one that its server has promised or at least not ended; otherwise a new one.
  case reused
  /// One that its server has promised to keep open (`Connection: keep-alive`), or a new one.
  case reusedIfPromised
  /// A new one, now and for all requests to this origin: its server closes connections without saying so.
  case fresh
}
