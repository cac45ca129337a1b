import UploadCore

/// Sending: from the file into the ring, and from the ring into the connection.
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

  /// Whether the file can bypass the ring. A file that fits into one run is sent in one write with its framing.
  private var goesDirectly: Bool {
    guard let source, !source.mustBeRead, source.digest == nil else { return false }
    return pipeline.current.body.fileLength > Int64(buffers.runLength)
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

  /// Puts the next run into the ring: the rest of the head, framing, and one read of the file.
  private func fill() throws(UploadError) {
    // If the ring wraps, the head is copied in two parts.
    while !pipeline.current.hasTakenHead, !buffers.ring.isFull {
      buffers.ring.commit(pipeline.current.writeHead(into: buffers.ring.writableRun))
    }
    let exchange = pipeline.current.exchange
    guard exchange.sending == .body || !exchange.expectsContinue else { return }
    while !buffers.ring.isFull {
      switch pipeline.current.body.phase {
      case .header, .footer:
        buffers.ring.commit(pipeline.current.body.writeFraming(into: buffers.ring.writableRun))
      case .file(let sent):
        // The framing is sent first; then the file bypasses the ring.
        if goesDirectly, !buffers.ring.isEmpty { return }
        try fillFromFile(sent)
        if changeDetector.statusChange != nil { return }
        if case .file = pipeline.current.body.phase { return }
      case .complete:
        return
      }
    }
  }

  private func fillFromFile(_ sent: Int64) throws(UploadError) {
    guard let source else { throw .noFile }
    let body = pipeline.current.body
    let run = buffers.fileRun.prefix(Int(clamping: body.fileLength - sent))
    let offset = body.fileOffset + sent
    let count = try source.readToSend(into: UnsafeMutableRawBufferPointer(rebasing: run), at: offset)
    excludeReadingTime()
    buffers.commit(count, at: offset, digest: source.digest)
    pipeline.current.body.advanceFile(by: count)
    try changeDetector.verifyAtEnd(of: pipeline.current.body)
    excludeReadingTime()
  }

  /// While the connection is blocked: digests one run of the bytes that were sent earlier, as after a resume.
  /// - Returns: true if there are more.
  func catchUp() throws(UploadError) -> Bool {
    guard let source, let digest = source.digest, case .file(let sent) = pipeline.current.body.phase else {
      return false
    }
    let lag = pipeline.current.body.fileOffset + sent - digest.position
    // Uses the free part of the ring.
    let space = buffers.ring.writableRun
    guard lag > 0, !space.isEmpty else { return false }
    let run = UnsafeMutableRawBufferPointer(rebasing: space.prefix(min(Int(clamping: lag), buffers.runLength)))
    let count = try source.read(into: run, at: digest.position)
    excludeReadingTime()
    return lag > Int64(count)
  }
}
