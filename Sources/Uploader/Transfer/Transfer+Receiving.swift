import UploadCore

/// Receiving: from the connection to the responses.
extension Transfer {
  /// Reads until there is no more data for now, or a response is complete.
  func receive(_ ready: Readiness) -> TransferStep? {
    if !buffers.unread.isEmpty, let step = parse(buffers.unread) { return step }
    guard ready.contains(.readable) else { return nil }
    for _ in 0..<Limits.receiveCount {
      let holdsBytes = connection.stream.holdsBytes
      let result: StreamRead
      do throws(StreamError) { result = try connection.stream.read(into: buffers.received) } catch {
        return endReceiving(error)
      }
      // TLS may have sent the last bytes while it read, and this may be the response to them.
      if holdsBytes, !connection.stream.holdsBytes { noteSent() }
      switch result {
      case .notReady: return nil
      case .end: return endReceiving(nil)
      case .bytes(let count): if let step = parse(0..<count) { return step }
      }
    }
    return nil
  }

  private func parse(_ range: Range<Int>) -> TransferStep? {
    buffers.unread = 0..<0
    do throws(ResponseError) {
      let received = try pipeline.receive(UnsafeRawBufferPointer(rebasing: buffers.received[range]))
      noteStopped()
      switch received {
      case .partial: return nil
      case .answered(let response, let request, let rest):
        buffers.unread = (range.upperBound - rest)..<range.upperBound
        return answered(response, to: request)
      case .answeredAndEnded(let response, let request): return answered(response, to: request)
      }
    } catch {
      noteStopped()
      if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
      if error == .notHTTP, pipeline.mayStray(isReused: connection.isReused) {
        return .interrupted(interruption(lost(nil), isOrderly: true, isStray: true))
      }
      return .interrupted(interruption(.invalidResponse(error, peer: connection.peer)))
    }
  }

  private func noteStopped() {
    if pipeline.current.exchange.sending == .stopped, pipeline.current.sentAtMilliseconds == nil {
      pipeline.current.sentAtMilliseconds = clock.now
    }
  }

  func answered(_ response: Response, to request: WireRequest) -> TransferStep {
    reports.hasSent = false
    let isWhole = request.exchange.sending == .finished
    return .answered(
      response, sent: isWhole ? .whole : pipeline.sent(offered: counts.offered) == .none ? .none : .partial,
      afterMilliseconds: clock.now - (request.sentAtMilliseconds ?? clock.now))
  }

  /// The connection has ended, with or without an error.
  private func endReceiving(_ error: StreamError?) -> TransferStep {
    // A refusal counts as soon as its head has arrived.
    if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
    switch error {
    case .system(let error): return .interrupted(interruption(lost(error)))
    case .tls(.truncated) where pipeline.awaitsHead, nil where pipeline.awaitsHead || !pipeline.awaitsCurrent:
      return .interrupted(interruption(lost(nil), isOrderly: true))
    case .tls(let error):
      // A refusal comes from the server, however late it is. Other errors concern only this connection.
      let isRefusal = if case .alert = error { true } else { false }
      let host = isRefusal ? connection.host ?? connection.peer : connection.peer
      return .interrupted(interruption(.tls(error, host: host)))
    case nil:
      do throws(ResponseError) {
        if let response = try pipeline.receiveEnd() { return answered(response, to: pipeline.current) }
      } catch { return .interrupted(interruption(.invalidResponse(error, peer: connection.peer))) }
      return .interrupted(interruption(lost(nil), isOrderly: true))
    }
  }

  func lost(_ error: SystemError?) -> UploadError {
    .connectionLost(phase, peer: connection.peer, error)
  }

  /// A response that the server sent before it closed the connection takes precedence over the error (RFC 9112, 9.6).
  func receiveRest(after error: StreamError) -> TransferStep {
    receive(.readable) ?? endReceiving(error)
  }
}
