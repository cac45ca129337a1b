import UploadCore

/// Sending: from the ring into the connection, or with sendfile(2) from the page cache.
extension Transfer {
  enum WriteResult {
    /// More can be written at once.
    case ready
    /// The connection accepts no more for now.
    case blocked
    case ended(TransferStep)
  }

  /// Writes one run, refilling the ring when it is empty.
  func send() throws(UploadError) -> WriteResult {
    pause = nil
    switch pipeline.current.exchange.sending {
    case .finished, .stopped: return flushHeld()
    case .head, .awaitingContinue, .body: break
    }
    pipeline.current.startedAtMilliseconds = pipeline.current.startedAtMilliseconds ?? clock.now
    let allowance = rateShare?.allowance(nowMilliseconds: clock.now) ?? Int.max
    if allowance == 0 {
      pause = .rateLimit
      return sendHeld()
    }
    // Refill only when empty: the ring then starts at its first byte, and the kernel's queues bridge the read.
    if buffers.ring.isEmpty {
      if let sending = try sendDirectly(allowance) { return sending }
      guard buffers.makeRoom() else {
        pause = .digest
        return sendHeld()
      }
      try fill()
      if let step = reportStatusChange() { return .ended(step) }
    }
    if hasTakenFile, let step = reportLastByte() { return .ended(step) }
    let run = buffers.ring.readableRun.prefix(min(buffers.runLength, allowance))
    counts.offered = max(counts.offered, counts.written + Int64(run.count))
    do throws(StreamError) {
      let count = run.isEmpty ? 0 : try connection.stream.write(UnsafeRawBufferPointer(rebasing: run))
      buffers.ring.consume(count)
      noteWritten(count)
      let isFlushed = try connection.stream.flush()
      if isFlushed { noteSent() }
      return count < run.count || !isFlushed ? .blocked : .ready
    } catch { return .ended(receiveRest(after: error)) }
  }

  /// Sends what TLS still holds, while nothing else can be sent.
  private func sendHeld() -> WriteResult {
    guard connection.stream.holdsBytes else { return .blocked }
    let result = flushHeld()
    if case .ready = result { noteSent() }
    if case .ended = result { return result }
    return .blocked
  }

  /// Sends pending bytes of the stream itself, such as a client certificate that was requested late.
  private func flushHeld() -> WriteResult {
    guard connection.stream.holdsBytes else { return .ready }
    do throws(StreamError) { return try connection.stream.flush() ? .ready : .blocked } catch {
      return .ended(receiveRest(after: error))
    }
  }

  /// Lets the kernel send the file from its page cache, if there is no TLS to encrypt the bytes and no digest to compute.
  /// - Returns: nil if the ring must be used.
  private func sendDirectly(_ allowance: Int) throws(UploadError) -> WriteResult? {
    let body = pipeline.current.body
    guard goesDirectly, pipeline.current.exchange.sending == .body, case .file(let sent) = body.phase, let source
    else { return nil }
    let file = source.file
    let length = Int(min(body.fileLength - sent, Int64(min(Limits.sendfileLength, allowance))))
    if body.endsFile(of: file.size, after: sent + Int64(length)) {
      try changeDetector.verifyBeforeEnd()
      excludeReadingTime()
      // After a form's file, its footer is the end.
      if let step = reportStatusChange() ?? (body.footer.isEmpty ? reportLastByte() : nil) { return .ended(step) }
    }
    let result: Int?
    source.beginReading()
    do throws(SendfileError) {
      result = try connection.stream.send(file, at: body.fileOffset + sent, count: length)
    } catch {
      source.endReading()
      excludeReadingTime()
      switch error {
      case .file(let error): throw .file(file.path, error)
      case .stream(let error): return .ended(receiveRest(after: error))
      }
    }
    source.endReading()
    excludeReadingTime()
    guard let count = result else {
      source.mustBeRead = true
      return nil
    }
    noteWritten(count)
    // sendfile(2) either reports how much it has sent, or has sent nothing.
    counts.offered = max(counts.offered, counts.written)
    if count > 0 {
      changeDetector.notePagesSent()
      pipeline.current.body.advanceFile(by: count)
    }
    try changeDetector.verifyAtEnd(of: pipeline.current.body)
    excludeReadingTime()
    if let step = reportStatusChange() { return .ended(step) }
    noteSent()
    return count < length ? .blocked : .ready
  }

  /// Whether the end of the file is sent, or in the ring.
  private var hasTakenFile: Bool {
    switch pipeline.current.body.phase {
    case .header, .file: false
    case .footer, .complete: true
    }
  }

  private func noteWritten(_ count: Int) {
    counts.written += Int64(count)
    rateShare?.consume(count)
  }

  func noteSent() {
    if counts.written >= pipeline.start + Int64(pipeline.current.head.count) {
      pipeline.current.exchange.headWasSent(continueDeadlineMilliseconds: clock.now + continueWait)
    }
    guard pipeline.current.body.phase == .complete, buffers.ring.isEmpty else { return }
    pipeline.current.exchange.bodyWasSent()
    if hasSentAll, pipeline.current.sentAtMilliseconds == nil { pipeline.current.sentAtMilliseconds = clock.now }
  }

  /// A few round trips, within limits. A server that supports the expectation answers by then, and one that ignores it costs
  /// little.
  private var continueWait: Int64 {
    let roundTrips = connection.roundTripMilliseconds * Limits.continueWaitRoundTrips
    return min(max(roundTrips, Limits.continueWaitMinimumMilliseconds), Limits.continueWaitMaximumMilliseconds)
  }
}
