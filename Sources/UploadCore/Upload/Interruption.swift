/// How the requests under way ended without an answer.
package struct Interruption: Equatable, Sendable {
  package let error: UploadError
  /// How much of the oldest request's content may have gone out.
  package let sent: ContentSent
  /// Bytes of the content of all requests under way that the other side has acknowledged at least.
  package let arrived: Int64
  package let connection: Staleness

  /// Can it be that the server had closed the connection before the request came?
  package enum Staleness: Equatable, Sendable {
    /// No: it was made for the request, or the answer had begun.
    case fresh
    /// It had been used before, and nothing came back for this request. `hasSentLittle`: little had gone out.
    case used(hasSentLittle: Bool)
    /// It has, and said so in its answer to the request before.
    case announced
  }

  package init(
    _ error: UploadError, sent: ContentSent = .none, arrived: Int64 = 0, connection: Staleness = .fresh
  ) {
    self.error = error
    self.sent = sent
    self.arrived = arrived
    self.connection = connection
  }
}
