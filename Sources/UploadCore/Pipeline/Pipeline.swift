/// The requests under way on one connection, two at the most, and which answer belongs to which (RFC 9112, 9.3.2).
///
///     current                      being sent, or sent and not answered
///     earlier ◀── follow ── current
///                                  the earlier one is answered first
package struct Pipeline: Sendable {
  /// The request that is being sent, or the last one that was.
  package var current: WireRequest
  /// The one before it, as long as it is not answered.
  private var earlier: WireRequest?
  /// Where the current one begins, in bytes that were written to the connection.
  package private(set) var start: Int64 = 0
  /// Has a request been answered, with another one behind it?
  package private(set) var hasAnsweredEarlier = false
  /// Did that answer end the connection, so that the server looks at nothing behind it? (RFC 9112, 9.6)
  package private(set) var hasEnded = false

  package init(_ request: WireRequest) { current = request }

  // MARK: What the caller asks

  /// Has the current request gone out, with nothing of its answer there yet, so that another one can follow it?
  package var canPipeline: Bool {
    earlier == nil && current.exchange.sending == .finished && current.exchange.awaitsHead
  }

  /// Is the answer to the current request the next one?
  package var awaitsCurrent: Bool { earlier == nil }

  /// Can the connection be used for another request?
  package var canReuseConnection: Bool { earlier == nil && current.exchange.canReuseConnection }

  /// Does the server promise to keep the connection open?
  package var promisesReuse: Bool { canReuseConnection && current.exchange.promisesReuse }

  /// Has nothing of the next final response arrived?
  package var awaitsHead: Bool { (earlier ?? current).exchange.awaitsHead }

  /// Did anything come back on the connection?
  private var hasBegunReceiving: Bool {
    hasAnsweredEarlier || (earlier ?? current).exchange.hasBegunReceiving
  }

  /// How much of the content of the oldest request may have gone out.
  /// - Parameter offered: bytes that the connection was given, all of which it may have passed on.
  package func sent(offered: Int64) -> ContentSent {
    if earlier != nil { return .whole }
    let offered = offered - start
    if offered >= current.length { return .whole }
    return offered > Int64(current.head.count) ? .begun : .none
  }

  /// How much of the content of all requests under way has arrived at the other side at least, in bytes.
  /// - Parameter acknowledged: bytes that the other side has acknowledged.
  package func arrived(acknowledged: Int64) -> Int64 {
    return max(0, acknowledged - contentStart)
  }

  /// Where the content of the oldest request begins, in bytes that were written to the connection.
  private var contentStart: Int64 { earlier.map { start - $0.body.length } ?? start + Int64(current.head.count) }

  /// Can it be that the server had closed the connection before the request came?
  /// - Parameters:
  ///   - isReused: was the connection used before the first request?
  ///   - offered: bytes that the connection was given.
  ///   - isOrderly: did the server close it without an error?
  package func staleness(isReused: Bool, offered: Int64, isOrderly: Bool) -> Interruption.Staleness {
    if hasEnded { return .announced }
    let hasSentLittle = offered - contentStart <= Int64(Limits.runLength)
    if hasAnsweredEarlier, awaitsHead || isOrderly { return .used(hasSentLittle: isOrderly || hasSentLittle) }
    guard isReused, !hasBegunReceiving else { return .fresh }
    return .used(hasSentLittle: hasSentLittle)
  }

  // MARK: What the caller tells

  /// Another request follows without waiting for the answer to the current one.
  /// - Parameter written: bytes that were written to the connection so far.
  package mutating func append(_ request: WireRequest, written: Int64) {
    precondition(canPipeline, "a third request on one connection")
    current.exchange.hasSuccessor = true
    earlier = current
    current = request
    start = written
  }

  /// More of the content has arrived at the other side: interim responses are counted from zero.
  package mutating func contentHasAdvanced() {
    current.exchange.contentHasAdvanced()
    earlier?.exchange.contentHasAdvanced()
  }

  /// What arrived made of the requests.
  package enum Received: Sendable {
    /// The response to the oldest request is not whole yet.
    case partial
    /// It is. `rest`: how many of the bytes belong to what comes after it.
    case answered(Response, to: WireRequest, rest: Int)
    /// As before, and the server will not look at the request behind it.
    case answeredAndEnded(Response, to: WireRequest)
  }

  /// Bytes have arrived.
  /// - Throws: how they break the rules. A refusal that is there as far as its head counts all the same: see
  ///   ``refusalSoFar``.
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
  /// - Returns: the response that ends with it; nil if there is none.
  package mutating func receiveEnd() throws(ResponseError) -> Response? {
    guard earlier == nil else { return nil }
    try current.exchange.receiveEnd()
    return current.exchange.finalResponse
  }

  /// A response to the oldest request that says no, as far as it is there: its head is enough when the connection ends or
  /// breaks behind it.
  package var refusalSoFar: (response: Response, request: WireRequest)? {
    let oldest = earlier ?? current
    return oldest.exchange.refusalSoFar.map { ($0, oldest) }
  }
}
