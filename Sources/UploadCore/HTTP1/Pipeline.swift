/// The requests in flight on one connection, at most two, and which response belongs to which (RFC 9112, 9.3.2).
///
///     current                      being sent, or sent and not answered
///     earlier ◀── append ── current
///                                  the earlier one is answered first
package struct Pipeline: Sendable {
  /// The request being sent, or the last one sent.
  package var current: WireRequest
  /// The previous one, until it is answered.
  private var earlier: WireRequest?
  /// The start of the current one, in bytes written to the connection.
  package private(set) var start: Int64 = 0
  /// Whether a request was answered while another one was pipelined after it.
  private(set) var hasAnsweredEarlier = false
  /// Whether that response ended the connection, so that the server ignores what follows (RFC 9112, 9.6).
  package private(set) var hasEnded = false

  package init(_ request: WireRequest) { current = request }

  // MARK: Queries

  /// Whether the current request was sent and nothing of its response has arrived, so that another one can follow it.
  package var canPipeline: Bool {
    earlier == nil && current.exchange.sending == .finished && current.exchange.awaitsHead
  }

  /// Whether the next response is that to the current request.
  package var awaitsCurrent: Bool { earlier == nil }

  /// Whether the connection can be used for another request.
  package var canReuseConnection: Bool { earlier == nil && current.exchange.canReuseConnection }

  /// Whether the server promises to keep the connection open.
  package var promisesReuse: Bool { canReuseConnection && current.exchange.promisesReuse }

  /// Whether nothing of the next final response has arrived.
  package var awaitsHead: Bool { (earlier ?? current).exchange.awaitsHead }

  /// Whether bytes that are not HTTP can belong to the previous response, so that later ones on the connection cannot be interpreted.
  /// - Parameter isReused: whether the connection was used before the first request.
  package func mayStray(isReused: Bool) -> Bool {
    hasAnsweredEarlier || (isReused && earlier == nil && current.exchange.awaitsFirstHead)
  }

  /// Whether anything has been received on the connection.
  package var hasResponded: Bool {
    hasAnsweredEarlier || (earlier ?? current).exchange.hasResponseStarted
  }

  /// How much content of the oldest request may have been sent.
  /// - Parameter offered: the bytes passed to the connection, all of which it may have sent.
  package func sent(offered: Int64) -> ContentSent {
    if earlier != nil { return .whole }
    let offered = offered - start
    if offered >= current.length { return .whole }
    return offered > Int64(current.head.count) ? .partial : .none
  }

  /// How many bytes of content of all requests in flight have arrived at the peer at least.
  /// - Parameter acknowledged: the bytes that the peer has acknowledged.
  package func arrived(acknowledged: Int64) -> Int64 {
    return max(0, acknowledged - contentStart)
  }

  /// The start of the content of the oldest request, in bytes written to the connection.
  private var contentStart: Int64 { earlier.map { start - $0.body.length } ?? start + Int64(current.head.count) }

  /// Whether the server may have closed the connection before the request arrived.
  /// - Parameters:
  ///   - isReused: whether the connection was used before the first request.
  ///   - offered: the bytes passed to the connection.
  ///   - isOrderly: whether the server closed it without an error.
  ///   - isStray: whether what it sent belongs to the previous response (``mayStray(isReused:)``).
  package func staleness(
    isReused: Bool, offered: Int64, isOrderly: Bool, isStray: Bool = false
  ) -> Interruption.Staleness {
    if hasEnded { return .announced }
    let hasSentLittle = offered - contentStart <= Int64(Limits.runLength)
    if hasAnsweredEarlier, awaitsHead || isOrderly { return .used(hasSentLittle: isOrderly || hasSentLittle) }
    guard isReused, !hasResponded || isStray else { return .fresh }
    return .used(hasSentLittle: hasSentLittle)
  }

  /// When the first byte of the oldest request was passed to the connection.
  package var startedAtMilliseconds: Int64? { (earlier ?? current).startedAtMilliseconds }

  // MARK: Events

  /// Another request follows without waiting for the response to the current one.
  /// - Parameter written: the bytes written to the connection so far.
  package mutating func append(_ request: WireRequest, written: Int64) {
    precondition(canPipeline, "a third request on one connection")
    current.exchange.hasSuccessor = true
    earlier = current
    current = request
    start = written
  }

  /// More of the content has arrived at the peer: the count of interim responses restarts.
  package mutating func contentHasAdvanced() {
    current.exchange.contentHasAdvanced()
    earlier?.exchange.contentHasAdvanced()
  }

  /// What received bytes completed.
  package enum Received: Sendable {
    /// The response to the oldest request is not complete yet.
    case partial
    /// It is complete. `rest`: how many of the bytes belong to what follows it.
    case answered(Response, to: WireRequest, rest: Int)
    /// It is complete, and the server will ignore the request after it.
    case answeredAndEnded(Response, to: WireRequest)
  }

  /// Bytes have arrived.
  /// - Throws: how they violate HTTP. A refusal whose head has arrived still counts: see ``refusalSoFar``.
  package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ResponseError) -> Received {
    guard var answered = earlier else {
      try current.exchange.receive(bytes)
      guard let response = current.exchange.finalResponse else { return .partial }
      return .answered(response, to: current, rest: 0)
    }
    let count: Int
    do throws(ResponseError) { count = try answered.exchange.receive(bytes) } catch {
      earlier = answered
      throw error
    }
    guard let response = answered.exchange.finalResponse else {
      earlier = answered
      return .partial
    }
    earlier = nil
    hasAnsweredEarlier = true
    hasEnded = answered.exchange.endsConnection
    if hasEnded { return .answeredAndEnded(response, to: answered) }
    return .answered(response, to: answered, rest: bytes.count - count)
  }

  /// The connection has ended.
  /// - Returns: the response that it completes; nil if there is none.
  package mutating func receiveEnd() throws(ResponseError) -> Response? {
    guard earlier == nil else { return nil }
    try current.exchange.receiveEnd()
    return current.exchange.finalResponse
  }

  /// A refusal of the oldest request, as far as it has arrived. Its head is enough if the connection ends or breaks after
  /// it.
  package var refusalSoFar: (response: Response, request: WireRequest)? {
    let oldest = earlier ?? current
    return oldest.exchange.refusalSoFar.map { ($0, oldest) }
  }
}
