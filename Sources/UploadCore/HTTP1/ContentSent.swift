/// How much of a request's content may have reached the peer.
package enum ContentSent: Equatable, Sendable {
  /// Not a byte.
  case none
  /// A part, but not the last byte.
  case partial
  case whole
}
