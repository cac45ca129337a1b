import UploadCore

/// The bytes of requests, and of the file in them, on their way through one connection:
///
///     file ──read──▶ ring ──write──▶ connection
///                                        │
///     responses ◀─── pipeline ◀──read────┘   (also while sending)
///
/// Each step reads what has arrived and writes one run; then it says what it waits for.
final class Transfer {
  /// How far the bytes have come, since the transfer began.
  struct ByteCounts {
    /// Taken by the connection: bytes of heads and bodies.
    var written: Int64 = 0
    /// Given to the connection, which may have passed on all or a part of them.
    var offered: Int64 = 0
    /// Acknowledged by the peer, when last looked at.
    var acknowledged: Int64 = 0
  }

  let connection: Connection
  let buffers: TransferBuffers
  private let timeouts: Timeouts
  let pace: PaceShare?
  var pipeline: Pipeline
  var watch: FileWatch
  var counts = ByteCounts()
  var clock = TransferClock()
  /// Is it the rate limit that nothing is sent for now?
  var isPaced = false
  /// Is it the digest, which still needs all that the ring holds?
  var isBehindDigest = false
  /// Has ``TransferStep/sent`` been told of the current request?
  var hasToldSent = false
  private var progress: UploadProgress?

  /// - Parameter source: the file that request bodies are ranges of; nil if they have none.
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

  var source: TransferSource? { watch.source }

  /// Can the next request use the same connection?
  var canReuseConnection: Bool { pipeline.canReuseConnection && buffers.unread.isEmpty }

  /// Does the server promise that?
  var promisesReuse: Bool { pipeline.promisesReuse }

  /// Has the current request gone out as a whole?
  var hasSentAll: Bool { pipeline.current.exchange.sending == .finished }

  /// Another request follows the current one, after ``TransferStep/sent``.
  func append(_ request: WireRequest) {
    pipeline.append(request, written: counts.written)
    hasToldSent = false
  }

  /// How far the upload is, if that has been looked at since the last call.
  func takeProgress() -> UploadProgress? {
    defer { progress = nil }
    return progress
  }

  /// What an end at this moment would be for the requests under way.
  /// - Parameter isOrderly: did the server close the connection without an error?
  func interruption(_ error: UploadError, isOrderly: Bool = false) -> Interruption {
    Interruption(
      error, sent: pipeline.sent(offered: counts.offered),
      arrived: pipeline.arrived(acknowledged: counts.acknowledged),
      connection: pipeline.staleness(
        isReused: connection.isReused, offered: counts.offered, isOrderly: isOrderly))
  }

  var phase: UploadPhase {
    pipeline.current.sentAtMilliseconds == nil ? .sending : awaitingPhase
  }

  var awaitingPhase: UploadPhase {
    pipeline.current.isWholeForm ? .awaitingResponse : .awaitingAnswer
  }

  // MARK: The step

  /// - Throws: what is wrong with the file. The transfer has then ended.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> TransferStep {
    clock.beginStep(now)
    _ = source?.takeReadingMilliseconds()
    // What follows an answer that ends the connection is nobody's, and nothing more is sent.
    if pipeline.hasEnded { return .interrupted(interruption(lost(nil), isOrderly: true)) }
    pipeline.current.exchange.tick(nowMilliseconds: now)
    // Behind an answer another request may follow at once, before what came behind that answer is read.
    if let step = tellSent() ?? receive(ready) { return try verifyPages(behind: step) }
    let sending = try send()
    if case .ended(let step) = sending { return step }
    let isBlocked = if case .blocked = sending { true } else { false }
    if isBlocked, !isPaced { pace?.rest() }
    try reportProgress()
    if let step = tellStatusChange() ?? checkDeadline() { return step }
    if let step = tellSent() { return step }
    let isDigesting = isBlocked ? try catchUp() : false
    return .wait(nextWait(isBlocked: isBlocked && !isDigesting))
  }

  private func tellSent() -> TransferStep? {
    guard pipeline.canPipeline, !hasToldSent else { return nil }
    hasToldSent = true
    return .sent
  }

  // MARK: The file

  func tellStatusChange() -> TransferStep? { watch.takeStatusChange().map { .statusChanged($0) } }

  /// Nobody may say that a recording has arrived whose pages could change until now.
  private func verifyPages(behind step: TransferStep) throws(UploadError) -> TransferStep {
    guard watch.hasPagesUnderWay, hasSentAll, case .answered(let response, _, _) = step, response.status < 300 else {
      return step
    }
    try watch.verify(pipeline.current.body, hasArrived: true)
    excuseReading()
    return tellStatusChange() ?? step
  }

  /// While the disk was waited for, the network could do nothing.
  func excuseReading() { clock.excuseReading(source?.takeReadingMilliseconds() ?? 0) }

  /// Time that no limit of the network's counts has passed.
  func excuse(_ milliseconds: Int64) { clock.excuse(milliseconds) }

  // MARK: Progress and time

  /// Looks now and then how much of what was written has arrived, and whether the file is still what it was.
  private func reportProgress() throws(UploadError) {
    guard clock.now >= clock.nextReport || clock.now >= deadline else { return }
    clock.noteReport()
    let arrived = counts.written - Int64(connection.stream.unacknowledgedLength)
    try watch.verify(pipeline.current.body, hasArrived: hasSentAll && arrived >= counts.written)
    excuseReading()
    if arrived > counts.acknowledged { pipeline.contentHasAdvanced() }
    // While the rate limit forbids sending, nobody can be late.
    if arrived > counts.acknowledged || (isPaced && arrived == counts.written) {
      counts.acknowledged = arrived
      clock.noteAdvance()
    }
    guard let file = source?.file, pipeline.current.body.fileLength > 0 else { return }
    progress = UploadProgress(deliveredBytes: min(max(0, arrivedInFile), file.size), totalBytes: file.size)
  }

  /// How far the acknowledged bytes reach into the file.
  private var arrivedInFile: Int64 {
    let ofRequest = counts.acknowledged - pipeline.start
    // What is missing of the request before lies directly in front of this one's range.
    let inRange = ofRequest < 0 ? ofRequest : max(0, ofRequest - pipeline.current.framingLength)
    return pipeline.current.body.fileOffset + min(inRange, pipeline.current.body.fileLength)
  }

  /// The answer is waited for from the moment that the last byte has arrived, or that the answer has begun.
  private var isAwaitingResponse: Bool {
    if pipeline.awaitsCurrent, !pipeline.awaitsHead { return true }
    return hasSentAll && counts.acknowledged >= counts.written
  }

  private var deadline: Int64 {
    isAwaitingResponse
      ? clock.responseDeadline(timeouts.responseMilliseconds, sentAt: pipeline.current.sentAtMilliseconds)
      : clock.stallDeadline(timeouts.stallMilliseconds)
  }

  private func checkDeadline() -> TransferStep? {
    guard clock.now >= deadline else { return nil }
    if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
    let limit = isAwaitingResponse ? timeouts.responseMilliseconds : timeouts.stallMilliseconds
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
      pace?.rest()
    case .head, .body:
      let next = pace?.nextMilliseconds(nowMilliseconds: clock.now) ?? clock.now
      if next > clock.now {
        until = min(until, next)
      } else if isBehindDigest {
        others = buffers.awaitedDescriptors
        if others.isEmpty { until = clock.now }
      } else {
        readiness.insert(.writable)
        // More can be written at once: poll only to see whether an answer is there.
        if !isBlocked { until = clock.now }
      }
    case .finished, .stopped: pace?.rest()
    }
    if connection.stream.holdsBytes, !isPaced { readiness.insert(.writable) }
    var wait = Wait(descriptor: connection.stream.descriptor, readiness: readiness, untilMilliseconds: until)
    wait.others = others
    return wait
  }
}
