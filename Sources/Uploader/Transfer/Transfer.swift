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
  struct ByteCounts {
    /// Bytes of heads and bodies accepted by the connection.
    var written: Int64 = 0
    /// Bytes passed to the connection, which may have sent some or all of them.
    var offered: Int64 = 0
    /// Bytes acknowledged by the peer, when last checked.
    var acknowledged: Int64 = 0
  }

  /// Why nothing is sent for now, although the connection may accept more.
  enum Pause {
    case rateLimit
    /// The digest still needs the whole ring.
    case digest
  }

  /// What the caller was told, or is to be told.
  struct Reports {
    /// Whether ``TransferStep/sent`` was reported for the current request.
    var hasSent = false
    /// Whether ``TransferStep/lastByteNext`` was reported for the current request.
    var hasReportedLastByte = false
    var progress: UploadProgress?
  }

  let connection: Connection
  let buffers: TransferBuffers
  let rateShare: RateShare?
  var pipeline: Pipeline
  var changeDetector: FileChangeDetector
  var counts = ByteCounts()
  var clock: TransferClock
  var pause: Pause?
  var reports = Reports()
  /// A response that follows the report of a new status.
  private var heldAnswer: TransferStep?

  /// - Parameter source: the file whose ranges are request bodies; nil if there is none.
  init(
    _ request: WireRequest, of source: TransferSource?, over connection: Connection,
    buffers: TransferBuffers, timeouts: Timeouts, rateShare: RateShare? = nil
  ) {
    pipeline = Pipeline(request)
    changeDetector = FileChangeDetector(source)
    self.connection = connection
    self.buffers = buffers
    clock = TransferClock(timeouts)
    self.rateShare = rateShare
    // What grows is not worth a thread.
    buffers.clear(digestedLength: source?.digestsFile ?? false ? request.body.fileLength : 0)
  }

  deinit { rateShare?.rest() }

  var source: TransferSource? { changeDetector.source }

  /// Whether the next request can use the same connection.
  var canReuseConnection: Bool { pipeline.canReuseConnection && buffers.unread.isEmpty }

  /// Whether the server promises to keep it open.
  var promisesReuse: Bool { pipeline.promisesReuse }

  var hasSentAll: Bool { pipeline.current.exchange.sending == .finished }

  /// Pipelines another request, after ``TransferStep/sent``.
  func append(_ request: WireRequest) {
    pipeline.append(request, written: counts.written)
    reports.hasSent = false
    reports.hasReportedLastByte = false
  }

  /// Whether the connection has ever carried a part of a response.
  var hasResponded: Bool { connection.isReused || pipeline.hasResponded }

  /// The progress of the upload, if it was updated since the last call.
  func takeProgress() -> UploadProgress? {
    defer { reports.progress = nil }
    return reports.progress
  }

  /// The interruption of the requests in flight, if the transfer ended now.
  /// - Parameters:
  ///   - isOrderly: whether the server closed the connection without an error.
  ///   - isStray: whether what it sent belongs to the previous response.
  func interruption(_ error: UploadError, isOrderly: Bool = false, isStray: Bool = false) -> Interruption {
    // The last look may have been before most of it arrived.
    let arrived = max(counts.acknowledged, arrivedLength)
    return Interruption(
      error, sent: pipeline.sent(offered: counts.offered), arrived: pipeline.arrived(acknowledged: arrived),
      cutAfterMilliseconds: wasEnded(by: error) ? cutAfterMilliseconds : nil,
      staleness: pipeline.staleness(
        isReused: connection.isReused, offered: counts.offered, isOrderly: isOrderly, isStray: isStray),
      run: sentRun)
  }

  /// What was read to be sent, if it is compared.
  var sentRun: SentRun? { pipeline.current.body.digestedFrom == nil ? nil : source?.sentRun }

  /// How long the oldest request has been sent, if its content is still moving; nil if it is not.
  var cutAfterMilliseconds: Int64? {
    guard let start = pipeline.startedAtMilliseconds else { return nil }
    return clock.isAdvancing || arrivedLength > counts.acknowledged ? clock.now - start : nil
  }

  /// Whether the peer, or a proxy, has ended the connection, not the link.
  private func wasEnded(by error: UploadError) -> Bool {
    guard case .connectionLost(_, _, let error) = error else { return false }
    return error.map { [SHIM_ECONNRESET, SHIM_EPIPE].contains($0.code) } ?? true
  }

  var phase: UploadPhase {
    pipeline.current.sentAtMilliseconds == nil ? .sending : awaitingPhase
  }

  private var awaitingPhase: UploadPhase {
    pipeline.current.isWholeForm ? .awaitingConfirmation : .awaitingAnswer
  }

  // MARK: The step

  /// - Throws: an error of the file. The transfer has then ended.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> TransferStep {
    clock.beginStep(now)
    _ = source?.takeReadingMilliseconds()
    if let step = heldAnswer.take() { return step }
    // Bytes after a response that ends the connection are ignored, and nothing more is sent.
    if pipeline.hasEnded { return .interrupted(interruption(lost(nil), isOrderly: true)) }
    pipeline.current.exchange.tick(nowMilliseconds: now)
    // After a response another request may follow at once, before bytes after that response are read.
    if let step = reportSent() ?? receive(ready) { return try verifyPages(after: step) }
    let sending = try send()
    if case .ended(let step) = sending { return step }
    let isBlocked = if case .blocked = sending { true } else { false }
    if isBlocked, pause != .rateLimit { rateShare?.rest() }
    try reportProgress()
    if let step = reportStatusChange() ?? checkDeadline() { return step }
    if let step = reportSent() { return step }
    let isDigesting = isBlocked ? try catchUp() : false
    return .wait(nextWait(isBlocked: isBlocked && !isDigesting))
  }

  private func reportSent() -> TransferStep? {
    guard pipeline.canPipeline, !reports.hasSent else { return nil }
    reports.hasSent = true
    return .sent
  }

  // MARK: The file

  private func reportStatusChange() -> TransferStep? { changeDetector.takeStatusChange().map { .statusChanged($0) } }

  /// Announces the last byte of the request, if that is to be announced.
  private func reportLastByte() -> TransferStep? {
    guard pipeline.current.announcesLastByte, !reports.hasReportedLastByte else { return nil }
    reports.hasReportedLastByte = true
    return .lastByteNext
  }

  /// Checks the file before a response is reported, because its pages could change until now.
  private func verifyPages(after step: TransferStep) throws(UploadError) -> TransferStep {
    guard changeDetector.hasPagesInFlight, hasSentAll, case .answered(let response, _, _) = step, response.status < 300
    else {
      return step
    }
    try changeDetector.verify(pipeline.current.body, hasArrived: true)
    excludeReadingTime()
    guard let change = reportStatusChange() else { return step }
    heldAnswer = step
    return change
  }

  /// Excludes the time spent waiting for the disk from network time limits.
  private func excludeReadingTime() { clock.excludeReading(source?.takeReadingMilliseconds() ?? 0) }

  /// Excludes this time from network time limits.
  func extendDeadlines(by milliseconds: Int64) { clock.extendDeadlines(by: milliseconds) }
}

enum TransferStep {
  /// Nothing more is possible for now.
  case wait(Wait)
  /// The last request was sent completely. Another one can be pipelined (RFC 9112, 9.3.2).
  case sent
  /// The oldest request was answered, this long after its last byte. If another one is pipelined, the transfer continues.
  case answered(Response, sent: ContentSent, afterMilliseconds: Int64)
  /// The requests in flight will get no response. The transfer has ended.
  case interrupted(Interruption)
  /// The last byte of a request that announces it is about to be sent. Nothing is sent before the next step.
  case lastByteNext
  /// The file's status has changed. Nothing is sent before the next step.
  case statusChanged(StatusChange)
}

/// Filling: the head, the framing and the file, read by pread(2), into the ring.
extension Transfer {
  /// Puts the next run into the ring: the rest of the head, framing, and one read of the file.
  func fill() throws(UploadError) {
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
    excludeReadingTime()
    return lag > Int64(count)
  }

  /// Whether the file can bypass the ring. A file that fits into one run is sent in one write with its framing.
  private var goesDirectly: Bool {
    guard let source, !source.mustBeRead, source.digest == nil else { return false }
    return pipeline.current.body.fileLength > Int64(buffers.runLength)
  }
}

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
    // First: otherwise the response to the whole request could come before it counts as sent.
    noteSent()
    if let step = reportStatusChange() { return .ended(step) }
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
    rateShare?.consume(count, nowMilliseconds: clock.now)
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
  private func receiveRest(after error: StreamError) -> TransferStep {
    receive(.readable) ?? endReceiving(error)
  }
}

/// How much has arrived, how long to wait for more, and when a time limit ends the transfer.
extension Transfer {
  /// Checks at intervals how many of the written bytes have arrived, and whether the file has changed.
  private func reportProgress() throws(UploadError) {
    guard clock.now >= clock.nextReport || clock.now >= deadline else { return }
    clock.noteReport()
    let arrived = arrivedLength
    try changeDetector.verify(pipeline.current.body, hasArrived: hasSentAll && arrived >= counts.written)
    excludeReadingTime()
    if arrived > counts.acknowledged { pipeline.contentHasAdvanced() }
    // While the rate limit stops sending, there is no stall.
    if arrived > counts.acknowledged || (pause == .rateLimit && arrived == counts.written) {
      counts.acknowledged = arrived
      clock.noteAdvance()
    }
    guard let file = source?.file, pipeline.current.body.fileLength > 0 else { return }
    reports.progress = UploadProgress(
      deliveredBytes: min(max(0, arrivedInFile), file.size), totalBytes: file.size)
  }

  /// How many of the bytes written the peer has acknowledged.
  var arrivedLength: Int64 { counts.written - Int64(connection.stream.unacknowledgedLength) }

  /// How many bytes of the range of the file in the current request have arrived.
  var arrivedOfFile: Int64 {
    min(max(0, arrivedInFile - pipeline.current.body.fileOffset), pipeline.current.body.fileLength)
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
    isAwaitingResponse
      ? clock.responseDeadline(sentAt: pipeline.current.sentAtMilliseconds, limit: responseMilliseconds)
      : clock.stallDeadline
  }

  /// A server that copies what it joins has more time.
  private var responseMilliseconds: Int64 {
    clock.timeouts.responseMilliseconds + pipeline.current.body.joinedLength / Limits.joinedBytesPerMillisecond
  }

  func checkDeadline() -> TransferStep? {
    guard clock.now >= deadline else { return nil }
    if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
    let limit = isAwaitingResponse ? responseMilliseconds : clock.timeouts.stallMilliseconds
    let phase = isAwaitingResponse ? awaitingPhase : UploadPhase.sending
    return .interrupted(interruption(.timedOut(phase, peer: connection.peer, limitMilliseconds: limit)))
  }

  private func nextWait(isBlocked: Bool) -> Wait {
    var until = min(deadline, clock.nextReport)
    var readiness: Readiness = .readable
    var others: [Int32] = []
    switch pipeline.current.exchange.sending {
    case .awaitingContinue(let limit):
      until = min(until, limit)
      rateShare?.rest()
    case .head, .body:
      let next = rateShare?.nextMilliseconds(nowMilliseconds: clock.now) ?? clock.now
      if next > clock.now {
        until = min(until, next)
      } else if pause == .digest {
        others = buffers.awaitedDescriptors
        if others.isEmpty { until = clock.now }
      } else {
        readiness.insert(.writable)
        // More can be written at once. Poll only to see whether a response has arrived.
        if !isBlocked { until = clock.now }
      }
    case .finished, .stopped: rateShare?.rest()
    }
    if connection.stream.holdsBytes { readiness.insert(.writable) }
    var wait = Wait(descriptor: connection.stream.descriptor, readiness: readiness, untilMilliseconds: until)
    wait.others = others
    return wait
  }
}

extension Limits {
  /// The most that one `sendfile` passes from the page cache to a plain connection, in bytes.
  static let sendfileLength = 4 << 20
  /// How fast any server copies what it joins, in bytes per millisecond (10 MB/s).
  static let joinedBytesPerMillisecond: Int64 = 10_000
  /// The longest wait for `100 (Continue)` before the body is sent anyway (RFC 9110, 10.1.1), in milliseconds.
  static let continueWaitMaximumMilliseconds: Int64 = 1000
  /// The shortest wait for it. In between, it is a multiple of the round-trip time of the connect.
  static let continueWaitMinimumMilliseconds: Int64 = 25
  static let continueWaitRoundTrips: Int64 = 4
}
