import CShims
import UploadCore

/// Moves the bytes of requests, including the file, through one connection:
///
///     file ──read──▶ ring ──write──▶ connection
///                                        │
///     responses ◀─── pipeline ◀──read────┘   (also while sending)
///
/// Each step reads what has arrived and writes one run. Then it returns what it waits for.
final class Transfer {
  /// Byte counts since the start of the transfer.
  private struct ByteCounts {
    /// Bytes of heads and bodies accepted by the connection.
    var written: Int64 = 0
    /// Bytes passed to the connection, which may have sent some or all of them.
    var offered: Int64 = 0
    /// Bytes acknowledged by the peer, when last checked.
    var acknowledged: Int64 = 0
  }

  /// Times on the monotonic clock.
  private struct Times {
    var now: Int64 = 0
    var lastAdvance: Int64?
    var nextReport: Int64 = 0
    /// Whether the rate limit stops sending for now.
    var isPaced = false
    /// Whether sending waits for the digest, which still needs the whole ring.
    var isBehindDigest = false
    /// Whether ``TransferStep/sent`` was reported for the current request.
    var hasToldSent = false
    var progress: UploadProgress?
  }

  private let connection: Connection
  private let buffers: TransferBuffers
  private let timeouts: Timeouts
  private let pace: PaceShare?
  private var pipeline: Pipeline
  private var watch: FileWatch
  private var counts = ByteCounts()
  private var times = Times()

  /// - Parameter source: the file whose ranges are request bodies; nil if there is none.
  init(
    _ request: WireRequest, of source: TransferSource?, over connection: Connection,
    buffers: TransferBuffers, timeouts: Timeouts, pace: PaceShare? = nil
  ) {
    pipeline = Pipeline(request)
    watch = FileWatch(source)
    self.connection = connection
    self.buffers = buffers
    self.timeouts = timeouts
    self.pace = pace
    buffers.clear(digestedLength: source?.digest == nil ? 0 : request.body.fileLength)
  }

  deinit { pace?.rest() }

  private var source: TransferSource? { watch.source }

  /// Whether the next request can use the same connection.
  var canReuseConnection: Bool { pipeline.canReuseConnection && buffers.unread.isEmpty }

  /// Whether the server promises to keep it open.
  var promisesReuse: Bool { pipeline.promisesReuse }

  /// Whether the current request was sent completely.
  var hasSentAll: Bool { pipeline.current.exchange.sending == .finished }

  /// Pipelines another request, after ``TransferStep/sent``.
  func append(_ request: WireRequest) {
    pipeline.append(request, written: counts.written)
    times.hasToldSent = false
  }

  /// The progress of the upload, if it was updated since the last call.
  func takeProgress() -> UploadProgress? {
    defer { times.progress = nil }
    return times.progress
  }

  /// The interruption of the requests in flight, if the transfer ended now.
  /// - Parameter isOrderly: whether the server closed the connection without an error.
  func interruption(_ error: UploadError, isOrderly: Bool = false) -> Interruption {
    Interruption(
      error, sent: pipeline.sent(offered: counts.offered),
      arrived: pipeline.arrived(acknowledged: counts.acknowledged),
      connection: pipeline.staleness(
        isReused: connection.isReused, offered: counts.offered, isOrderly: isOrderly))
  }

  private var phase: UploadPhase {
    pipeline.current.sentAtMilliseconds == nil ? .sending : awaitingPhase
  }

  private var awaitingPhase: UploadPhase {
    pipeline.current.isWholeForm ? .awaitingResponse : .awaitingAnswer
  }

  // MARK: The step

  /// - Throws: an error of the file. The transfer has then ended.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> TransferStep {
    times.now = now
    times.lastAdvance = times.lastAdvance ?? now
    _ = source?.takeReadingMilliseconds()
    // Bytes after a response that ends the connection are ignored, and nothing more is sent.
    if pipeline.hasEnded { return .interrupted(interruption(lost(nil), isOrderly: true)) }
    pipeline.current.exchange.tick(nowMilliseconds: now)
    // After a response another request may follow at once, before bytes after that response are read.
    if let step = tellSent() ?? receive(ready) { return try verifyPages(behind: step) }
    let sending = try send()
    if case .ended(let step) = sending { return step }
    let isBlocked = if case .blocked = sending { true } else { false }
    if isBlocked, !times.isPaced { pace?.rest() }
    try reportProgress()
    if let step = tellStatusChange() ?? checkDeadline() { return step }
    if let step = tellSent() { return step }
    let isDigesting = isBlocked ? try catchUp() : false
    return .wait(nextWait(isBlocked: isBlocked && !isDigesting))
  }

  private func tellSent() -> TransferStep? {
    guard pipeline.canPipeline, !times.hasToldSent else { return nil }
    times.hasToldSent = true
    return .sent
  }

  // MARK: Sending

  private enum Sending {
    /// More can be written at once.
    case ready
    /// The connection accepts no more for now.
    case blocked
    case ended(TransferStep)
  }

  /// Writes one run, refilling the ring when it is empty.
  private func send() throws(UploadError) -> Sending {
    times.isPaced = false
    times.isBehindDigest = false
    switch pipeline.current.exchange.sending {
    case .finished, .stopped: return flushHeld()
    case .head, .awaitingContinue, .body: break
    }
    let allowance = pace?.allowance(nowMilliseconds: times.now) ?? Int.max
    times.isPaced = allowance == 0
    if times.isPaced { return .blocked }
    // Refill only when empty: the ring then starts at its first byte, and the kernel's queues bridge the read.
    if buffers.ring.isEmpty {
      if let sending = try sendDirectly(allowance) { return sending }
      times.isBehindDigest = !buffers.makeRoom()
      if times.isBehindDigest { return .blocked }
      try fill()
      if let step = tellStatusChange() { return .ended(step) }
    }
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

  /// Sends pending bytes of the stream itself, such as a client certificate that was requested late.
  private func flushHeld() -> Sending {
    guard connection.stream.holdsBytes else { return .ready }
    do throws(StreamError) { return try connection.stream.flush() ? .ready : .blocked } catch {
      return .ended(receiveRest(after: error))
    }
  }

  /// Lets the kernel send the file from its page cache, if there is no TLS to encrypt the bytes and no digest to compute.
  /// - Returns: nil if the ring must be used.
  private func sendDirectly(_ allowance: Int) throws(UploadError) -> Sending? {
    let body = pipeline.current.body
    guard goesDirectly, pipeline.current.exchange.sending == .body, case .file(let sent) = body.phase, let source
    else { return nil }
    let file = source.file
    let length = Int(min(body.fileLength - sent, Int64(min(Limits.sendfileLength, allowance))))
    if body.endsFile(of: file.size, after: sent + Int64(length)) {
      try watch.verifyBeforeEnd()
      excuseReading()
      if let step = tellStatusChange() { return .ended(step) }
    }
    let result: Int?
    source.beginReading()
    do throws(SendfileError) {
      result = try connection.stream.send(file, at: body.fileOffset + sent, count: length)
    } catch {
      source.endReading()
      excuseReading()
      switch error {
      case .file(let error): throw .file(file.path, error)
      case .stream(let error): return .ended(receiveRest(after: error))
      }
    }
    source.endReading()
    excuseReading()
    guard let count = result else {
      source.mustBeRead = true
      return nil
    }
    noteWritten(count)
    // sendfile(2) either reports how much it has sent, or has sent nothing.
    counts.offered = max(counts.offered, counts.written)
    if count > 0 {
      watch.notePagesSent()
      pipeline.current.body.advanceFile(by: count)
    }
    try watch.verifyAtEnd(of: pipeline.current.body)
    excuseReading()
    if let step = tellStatusChange() { return .ended(step) }
    noteSent()
    return count < length ? .blocked : .ready
  }

  /// Whether the file can bypass the ring. A file that fits into one run is sent in one write with its framing.
  private var goesDirectly: Bool {
    guard let source, !source.mustBeRead, source.digest == nil else { return false }
    return pipeline.current.body.fileLength > Int64(buffers.runLength)
  }

  /// A response that the server sent before it closed the connection takes precedence over the error (RFC 9112, 9.6).
  private func receiveRest(after error: StreamError) -> TransferStep {
    receive(.readable) ?? endReceiving(error)
  }

  private func noteWritten(_ count: Int) {
    counts.written += Int64(count)
    pace?.consume(count)
  }

  private func noteSent() {
    if counts.written >= pipeline.start + Int64(pipeline.current.head.count) {
      pipeline.current.exchange.headWasSent(continueDeadlineMilliseconds: times.now + continueWait)
    }
    guard pipeline.current.body.phase == .complete, buffers.ring.isEmpty else { return }
    pipeline.current.exchange.bodyWasSent()
    if hasSentAll, pipeline.current.sentAtMilliseconds == nil { pipeline.current.sentAtMilliseconds = times.now }
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
        if watch.statusChange != nil { return }
        if case .file = pipeline.current.body.phase { return }
      case .complete:
        return
      }
    }
  }

  private func fillFromFile(_ sent: Int64) throws(UploadError) {
    guard let source else { preconditionFailure("a body with a range but no file") }
    let body = pipeline.current.body
    let run = buffers.fileRun.prefix(Int(clamping: body.fileLength - sent))
    let offset = body.fileOffset + sent
    let count = try source.readToSend(into: UnsafeMutableRawBufferPointer(rebasing: run), at: offset)
    excuseReading()
    buffers.commit(count, at: offset, digest: source.digest)
    pipeline.current.body.advanceFile(by: count)
    try watch.verifyAtEnd(of: pipeline.current.body)
    excuseReading()
  }

  /// While the connection is blocked: digests one run of the bytes that were sent earlier, as after a resume.
  /// - Returns: true if there are more.
  private func catchUp() throws(UploadError) -> Bool {
    guard let source, let digest = source.digest, case .file(let sent) = pipeline.current.body.phase else {
      return false
    }
    let lag = pipeline.current.body.fileOffset + sent - digest.position
    // Uses the free part of the ring.
    let space = buffers.ring.writableRun
    guard lag > 0, !space.isEmpty else { return false }
    let run = UnsafeMutableRawBufferPointer(rebasing: space.prefix(min(Int(clamping: lag), buffers.runLength)))
    let count = try source.read(into: run, at: digest.position)
    excuseReading()
    return lag > Int64(count)
  }

  // MARK: The file

  private func tellStatusChange() -> TransferStep? { watch.takeStatusChange().map { .statusChanged($0) } }

  /// Checks the file before a response is reported, because its pages could change until now.
  private func verifyPages(behind step: TransferStep) throws(UploadError) -> TransferStep {
    guard watch.hasPagesUnderWay, hasSentAll, case .answered(let response, _, _) = step, response.status < 300 else {
      return step
    }
    try watch.verify(pipeline.current.body, hasArrived: true)
    excuseReading()
    return tellStatusChange() ?? step
  }

  /// Excludes the time spent waiting for the disk from network time limits.
  private func excuseReading() {
    let milliseconds = source?.takeReadingMilliseconds() ?? 0
    times.now += milliseconds
    excuse(milliseconds)
  }

  /// Excludes this time from network time limits.
  func excuse(_ milliseconds: Int64) {
    times.lastAdvance = times.lastAdvance.map { $0 + milliseconds }
  }

  // MARK: Receiving

  /// Reads until there is no more data for now, or a response is complete.
  private func receive(_ ready: Readiness) -> TransferStep? {
    if !buffers.unread.isEmpty, let step = take(buffers.unread) { return step }
    guard ready.contains(.readable) else { return nil }
    for _ in 0..<Limits.receiveCount {
      let result: StreamRead
      do throws(StreamError) { result = try connection.stream.read(into: buffers.received) } catch {
        return endReceiving(error)
      }
      switch result {
      case .notReady: return nil
      case .end: return endReceiving(nil)
      case .bytes(let count): if let step = take(0..<count) { return step }
      }
    }
    return nil
  }

  private func take(_ range: Range<Int>) -> TransferStep? {
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
      // Stray bytes after the previous response: later bytes on this connection cannot be interpreted.
      if pipeline.hasAnsweredEarlier, error == .notHTTP {
        return .interrupted(interruption(lost(nil), isOrderly: true))
      }
      return .interrupted(interruption(.invalidResponse(error, peer: connection.peer)))
    }
  }

  private func noteStopped() {
    if pipeline.current.exchange.sending == .stopped, pipeline.current.sentAtMilliseconds == nil {
      pipeline.current.sentAtMilliseconds = times.now
    }
  }

  private func answered(_ response: Response, to request: WireRequest) -> TransferStep {
    times.hasToldSent = false
    let isWhole = request.exchange.sending == .finished
    return .answered(
      response, sent: isWhole ? .whole : pipeline.sent(offered: counts.offered) == .none ? .none : .begun,
      afterMilliseconds: times.now - (request.sentAtMilliseconds ?? times.now))
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

  private func lost(_ error: SystemError?) -> UploadError {
    .connectionLost(phase, peer: connection.peer, error)
  }

  // MARK: Progress and time

  /// Checks at intervals how many of the written bytes have arrived, and whether the file has changed.
  private func reportProgress() throws(UploadError) {
    guard times.now >= times.nextReport || times.now >= deadline else { return }
    times.nextReport = times.now + Limits.progressIntervalMilliseconds
    let arrived = counts.written - Int64(connection.stream.unacknowledgedLength)
    try watch.verify(pipeline.current.body, hasArrived: hasSentAll && arrived >= counts.written)
    excuseReading()
    if arrived > counts.acknowledged { pipeline.contentHasAdvanced() }
    // While the rate limit stops sending, there is no stall.
    if arrived > counts.acknowledged || (times.isPaced && arrived == counts.written) {
      counts.acknowledged = arrived
      times.lastAdvance = times.now
    }
    guard let file = source?.file, pipeline.current.body.fileLength > 0 else { return }
    times.progress = UploadProgress(deliveredBytes: min(max(0, arrivedInFile), file.size), totalBytes: file.size)
  }

  /// The end of the acknowledged bytes, as an offset in the file.
  private var arrivedInFile: Int64 {
    let ofRequest = counts.acknowledged - pipeline.start
    // The missing bytes of the previous request are directly before this one's range.
    let inRange = ofRequest < 0 ? ofRequest : max(0, ofRequest - pipeline.current.framingLength)
    return pipeline.current.body.fileOffset + min(inRange, pipeline.current.body.fileLength)
  }

  /// Whether the response time limit applies: the last byte has arrived at the peer, or the response has started.
  private var isAwaitingResponse: Bool {
    if pipeline.awaitsCurrent, !pipeline.awaitsHead { return true }
    return hasSentAll && counts.acknowledged >= counts.written
  }

  private var deadline: Int64 {
    let lastAdvance = times.lastAdvance ?? times.now
    guard isAwaitingResponse else { return lastAdvance + timeouts.stallMilliseconds }
    return max(pipeline.current.sentAtMilliseconds ?? 0, lastAdvance) + timeouts.responseMilliseconds
  }

  private func checkDeadline() -> TransferStep? {
    guard times.now >= deadline else { return nil }
    if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
    let limit = isAwaitingResponse ? timeouts.responseMilliseconds : timeouts.stallMilliseconds
    let phase = isAwaitingResponse ? awaitingPhase : UploadPhase.sending
    return .interrupted(interruption(.timedOut(phase, peer: connection.peer, limitMilliseconds: limit)))
  }

  private func nextWait(isBlocked: Bool) -> Wait {
    var until = min(deadline, times.nextReport)
    var readiness: Readiness = .readable
    var others: [Int32] = []
    switch pipeline.current.exchange.sending {
    case .awaitingContinue(let limit):
      until = min(until, limit)
      pace?.rest()
    case .head, .body:
      let next = pace?.nextMilliseconds(nowMilliseconds: times.now) ?? times.now
      if next > times.now {
        until = min(until, next)
      } else if times.isBehindDigest {
        others = buffers.awaitedDescriptors
        if others.isEmpty { until = times.now }
      } else {
        readiness.insert(.writable)
        // More can be written at once. Poll only to see whether a response has arrived.
        if !isBlocked { until = times.now }
      }
    case .finished, .stopped: pace?.rest()
    }
    if connection.stream.holdsBytes, !times.isPaced { readiness.insert(.writable) }
    var wait = Wait(descriptor: connection.stream.descriptor, readiness: readiness, untilMilliseconds: until)
    wait.others = others
    return wait
  }
}
