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
    buffers.clear(digestedLength: source?.digest == nil ? 0 : request.body.fileLength)
  }

  deinit { rateShare?.rest() }

  var source: TransferSource? { changeDetector.source }

  /// Whether the next request can use the same connection.
  var canReuseConnection: Bool { pipeline.canReuseConnection && buffers.unread.isEmpty }

  /// Whether the server promises to keep it open.
  var promisesReuse: Bool { pipeline.promisesReuse }

  /// Whether the current request was sent completely.
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
        isReused: connection.isReused, offered: counts.offered, isOrderly: isOrderly, isStray: isStray))
  }

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

  var awaitingPhase: UploadPhase {
    pipeline.current.isWholeForm ? .awaitingConfirmation : .awaitingAnswer
  }

  // MARK: The step

  /// - Throws: an error of the file. The transfer has then ended.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> TransferStep {
    clock.beginStep(now)
    _ = source?.takeReadingMilliseconds()
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

  func reportStatusChange() -> TransferStep? { changeDetector.takeStatusChange().map { .statusChanged($0) } }

  /// Announces the last byte of the request, if that is to be announced.
  func reportLastByte() -> TransferStep? {
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
    return reportStatusChange() ?? step
  }

  /// Excludes the time spent waiting for the disk from network time limits.
  func excludeReadingTime() { clock.excludeReading(source?.takeReadingMilliseconds() ?? 0) }

  /// Excludes this time from network time limits.
  func extendDeadlines(by milliseconds: Int64) { clock.extendDeadlines(by: milliseconds) }
}
