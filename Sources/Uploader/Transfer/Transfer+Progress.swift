import UploadCore

/// How much has arrived, how long to wait for more, and when a time limit ends the transfer.
extension Transfer {
  /// Checks at intervals how many of the written bytes have arrived, and whether the file has changed.
  func reportProgress() throws(UploadError) {
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
    isAwaitingResponse ? clock.responseDeadline(sentAt: pipeline.current.sentAtMilliseconds) : clock.stallDeadline
  }

  func checkDeadline() -> TransferStep? {
    guard clock.now >= deadline else { return nil }
    if let refusal = pipeline.refusalSoFar { return answered(refusal.response, to: refusal.request) }
    let limit = isAwaitingResponse ? clock.timeouts.responseMilliseconds : clock.timeouts.stallMilliseconds
    let phase = isAwaitingResponse ? awaitingPhase : UploadPhase.sending
    return .interrupted(interruption(.timedOut(phase, peer: connection.peer, limitMilliseconds: limit)))
  }

  func nextWait(isBlocked: Bool) -> Wait {
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
