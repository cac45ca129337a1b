/// How the requests in flight ended without a response that counts: the connection was lost, or something refused them.
package struct Interruption: Equatable, Sendable {
  package let error: UploadError
  /// How much of the oldest request's content may have been sent.
  package let sent: ContentSent
  /// How many bytes of the content of all requests in flight the peer has acknowledged at least.
  package let arrived: Int64
  /// How long the oldest one was sent, in milliseconds, if the peer stopped its content while it was moving: a link that
  /// drops does not do that.
  package let cutAfterMilliseconds: Int64?
  package let staleness: Staleness

  /// Whether the server may have closed the connection before the request arrived.
  package enum Staleness: Equatable, Sendable {
    /// No: the connection was new, or the response had started.
    case fresh
    /// Possibly: the connection was reused, and nothing was received for this request. `hasSentLittle`: little was sent.
    case used(hasSentLittle: Bool)
    /// Yes: the previous response announced it.
    case announced
  }

  /// Whether the server had everything of a long request, and did not answer. It closed the connection then, or acknowledged it.
  func isFullSend(of request: HTTPRequest) -> Bool {
    guard sent == .whole, request.contentLength > Limits.fullSendLength else { return false }
    if case .connectionLost(_, _, nil) = error { return true }
    return arrived > Limits.fullSendLength
  }

  package init(
    _ error: UploadError, sent: ContentSent = .none, arrived: Int64 = 0, cutAfterMilliseconds: Int64? = nil,
    staleness: Staleness = .fresh
  ) {
    self.error = error
    self.sent = sent
    self.arrived = arrived
    self.cutAfterMilliseconds = cutAfterMilliseconds
    self.staleness = staleness
  }

  /// - Parameter answer: what refused the oldest request.
  init(_ error: UploadError, by answer: Answer) {
    // Other refusals do not mean that it took too long.
    let isTimeout = answer.status == 408 || answer.status >= 500
    self.init(
      error, sent: answer.sent, cutAfterMilliseconds: isTimeout ? answer.cutAfterMilliseconds : nil)
  }
}
