/// How the worker's events are handled.
extension WatchMachine {
  package mutating func workerStarted() {
    worker.state = .open
    worker.lastProblem = nil
  }

  package mutating func inputClosed() { worker.state = .closing }

  /// A worker cannot be started. If the destination was not ready, that was the attempt, although no recording was given.
  package mutating func workerFailed(_ message: String, now: Int64, unixSeconds: Int64) {
    health.beginAttempt()
    noteTrouble(message, isLocal: true, now, unixSeconds)
  }

  package mutating func handle(_ event: WorkerEvent, now: Int64, unixSeconds: Int64) {
    guard let path = event.path else {
      if case .failed(let failure) = event.kind { worker.lastProblem = failure }
      return
    }
    switch event.kind {
    case .removed(let target):
      report.totals.removedCount += 1
      removals.silence.noteAnswer()
      let fate = target.map { "moved to " + PrintableText.line($0) + "." } ?? "removed after its delivery."
      var notice = WatchNotice(.removed, name(path) + ": " + fate, path: path)
      notice.id = event.id
      return report.notices.append(notice)
    case .kept(let message, let isTemporary, let isUnanswered):
      if isUnanswered { removals.silence.note(now) } else { removals.silence.noteAnswer() }
      return noteKept(path, message, isTemporary: isTemporary, now)
    default: break
    }
    guard let index = candidates.position(of: path), candidates[index].isGiven else { return }
    if let id = event.id { candidates[index].upload.id = id }
    switch event.kind {
    case .start: candidates[index].phase = .given(hasStarted: true)
    case .progress(let bytes, let total): noteProgress(index, bytes, total, now)
    case .delivered(let assetID, let size): noteDelivery(index, assetID, size, now, unixSeconds)
    case .skipped(let isRemovalDue, let isCertain, let otherEvent):
      health.noteInconclusive(now: now)
      if !isCertain { report.totals.uncertainCount += 1 }
      if let otherEvent { noteOtherEvent(path, otherEvent, event.id) }
      leftAlone.known.insert(candidates[index].file.key)
      examinations.paths.append(path)
      candidates.remove(at: index)
      if isRemovalDue { removals.add(path, now) }
    case .comparisonDue:
      health.noteInconclusive(now: now)
      candidates[index].isComparison = true
      makeReady(index, at: now)
    case .failed(let failure): noteFailure(index, failure, now, unixSeconds)
    case .unsettled:
      health.noteInconclusive(now: now)
      candidates[index].seenAt = now
      startSettling(index, until: now + settings.settleMilliseconds)
    case .removed, .kept, .other: break
    }
  }

  /// After a change of the options, that can be every recording that is kept: only the first one is told.
  private mutating func noteOtherEvent(_ path: [UInt8], _ event: String, _ id: String?) {
    guard !report.hasToldOtherEvent else { return }
    report.hasToldOtherEvent = true
    let message =
      name(path) + ": was delivered to " + (event.isEmpty ? "another event" : "the event \"" + event + "\"")
      + " and is not sent to a new one. \"gighive-upload send --again\" sends it. Others like it are not logged."
    var notice = WatchNotice(.warning, message, .warning, path: path)
    notice.id = id
    report.notices.append(notice)
  }

  private mutating func noteKept(_ path: [UInt8], _ message: String, isTemporary: Bool, _ now: Int64) {
    if isTemporary { removals.add(path, now) } else { removals.drop(path) }
    if removals.isNews(message, of: path) {
      report.notices.append(WatchNotice(.warning, message, .warning, path: path))
    }
  }

  private mutating func noteProgress(_ index: Int, _ bytes: Int64, _ total: Int64, _ now: Int64) {
    if let before = candidates[index].progressAt, now > before {
      let sent = max(0, bytes - candidates[index].upload.bytes)
      candidates[index].upload.bytesPerSecond = sent * 1000 / (now - before)
    }
    candidates[index].progressAt = now
    candidates[index].upload.bytes = bytes
    candidates[index].upload.totalBytes = total
  }

  private mutating func noteDelivery(
    _ index: Int, _ assetID: Int64?, _ size: Int64?, _ now: Int64, _ unixSeconds: Int64
  ) {
    let candidate = candidates.remove(at: index)
    let size = size ?? candidate.file.size
    leftAlone.known.insert(candidate.file.key)
    delivered.note(candidate.path, size)
    report.totals.deliveredCount += 1
    report.totals.deliveredBytes += size
    report.lastDelivery = WatchSnapshot.LastDelivery(
      id: candidate.upload.id, path: candidate.path, assetID: assetID, at: unixSeconds)
    health.forbidden = nil
    var notice = WatchNotice(.delivered, name(candidate.path) + ": delivered.", path: candidate.path)
    (notice.id, notice.assetID, notice.exitCode, notice.size) = (candidate.upload.id, assetID, 0, size)
    report.notices.append(notice)
    noteContact()
    releasePostponed(afterDelivering: size, now)
    // It may have changed since it was offered.
    examinations.paths.append(candidate.path)
  }

  /// The destination has shown that it works.
  private mutating func noteContact() {
    if health.noteSuccess() { report.notices.append(WatchNotice(.resumed, "the destination works again.")) }
    forgetFailures()
  }

  // MARK: Failures

  private mutating func noteFailure(
    _ index: Int, _ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64
  ) {
    report.totals.failedCount += 1
    if case .given(hasStarted: true) = candidates[index].phase { candidates[index].file.isBegun = true }
    // A server that asks for a pause is tried again as any other that does not work for now.
    makeReady(index, at: now + (failure.concern == .network ? 0 : failure.waitMilliseconds ?? 0))
    switch failure.concern ?? .file {
    case .file where failure.isConflict:
      candidates[index].dueAt = now + Limits.watchConflictMilliseconds
      health.noteInconclusive(now: now)
      report.notices.append(retryNotice(index, failure.message))
    // It was sent in full several times, and the server failed each time: perhaps it would fail with any recording.
    case .file where failure.waitMilliseconds != nil && !failure.isRefusal:
      candidates[index].waitReason = failure.message
      noteServerTrouble(index, failure, now, unixSeconds)
    case .file where failure.status == 403: noteForbidden(index, failure, now, unixSeconds)
    case .file:
      // A response about the recording shows that the destination works.
      if failure.status != nil { noteContact() } else { health.noteInconclusive(now: now) }
      judge(index, failure, now, unixSeconds)
    case .destination: pause(failure, now, unixSeconds)
    case .network where failure.isServerFailure: noteServerTrouble(index, failure, now, unixSeconds)
    case .network:
      noteAttempt(index)
      noteTrouble(failure.message, now, unixSeconds)
    case .machine: noteTrouble(failure.message, isLocal: true, now, unixSeconds)
    }
  }

  private mutating func noteServerTrouble(
    _ index: Int, _ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64
  ) {
    noteAttempt(index)
    if isStumblingBlock(index) {
      judge(index, failure, now, unixSeconds, isRetried: true)
      health.noteInconclusive(now: now)
    } else {
      noteTrouble(failure.message, now, unixSeconds)
    }
  }

  /// One that got no further lets others go first. Progress shows that the destination works.
  private mutating func noteAttempt(_ index: Int) {
    let sent = candidates[index].upload.bytes
    if sent > candidates[index].attempts.furthest {
      candidates[index].attempts.furthest = sent
      forgetFailures()
    } else {
      candidates[index].attempts.failures += 1
    }
  }

  private mutating func forgetFailures() {
    for index in candidates.indices { candidates[index].attempts.failures = 0 }
  }

  mutating func makeReady(_ index: Int, at time: Int64) {
    candidates[index].phase = .ready
    candidates[index].dueAt = time
    candidates[index].waitReason = nil
  }

  private mutating func judge(
    _ index: Int, _ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64, isRetried: Bool = false
  ) {
    candidates[index].phase = .judging(
      WatchCandidate.Judgement(
        message: failure.message, id: candidates[index].upload.id, exitCode: failure.exitCode, since: unixSeconds,
        again: failure.again, isRetried: isRetried))
    candidates[index].dueAt = now
  }

  /// Whether the server has failed with this recording several times, while others were delivered.
  private mutating func isStumblingBlock(_ index: Int) -> Bool {
    let delivered = report.totals.deliveredCount
    if candidates[index].attempts.serverFailures == 0 { candidates[index].attempts.deliveredBefore = delivered }
    candidates[index].attempts.serverFailures += 1
    let attempts = candidates[index].attempts
    return attempts.serverFailures >= Limits.watchServerFailureCount && delivered > attempts.deliveredBefore
  }

  /// A 403 for one recording concerns that recording; a second one, for another recording, concerns the destination.
  private mutating func noteForbidden(
    _ index: Int, _ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64
  ) {
    let path = candidates[index].path
    if health.isPaused { return pause(failure, now, unixSeconds) }
    guard let first = health.forbidden, first != path else {
      health.forbidden = path
      noteContact()
      return judge(index, failure, now, unixSeconds)
    }
    health.forbidden = nil
    pause(failure, now, unixSeconds)
    leftAlone.drop(first)
    if let other = candidates.position(of: first) {
      if case .judging = candidates[other].phase { makeReady(other, at: now) }
    } else {
      examinations.paths.append(first)
    }
  }

  private mutating func pause(_ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64) {
    var message = failure.message
    // In the message, because `status` shows that.
    if failure.exitCode == Int64(ExitCode.credentialsRefused), let command = settings.restartCommand {
      message += " After a correction, run " + command + ": systemd passes secrets on only when the service starts."
    }
    guard health.notePause(message, now: now, unixSeconds: unixSeconds) else { return }
    report.notices.append(
      WatchNotice(
        .paused,
        message + " Nothing is sent until this is fixed; the watcher retries every hour"
          + (settings.restartCommand == nil ? ", and when a credentials file changes." : "."), .error))
  }

  private mutating func noteTrouble(_ message: String, isLocal: Bool = false, _ now: Int64, _ unixSeconds: Int64) {
    let isNews = health.noteFailure(
      message, isLocal: isLocal, now: now, unixSeconds: unixSeconds, random: random.next())
    guard isNews else { return }
    report.notices.append(WatchNotice(isLocal ? .failing : .unreachable, message + " It will be retried.", .warning))
  }

  /// It has not changed since it failed.
  mutating func noteVerdict(_ index: Int, _ judgement: WatchCandidate.Judgement, _ now: Int64) {
    let (message, id) = (judgement.message, judgement.id)
    switch leftAlone.note(candidates[index], judgement, now: now) {
    case .retried:
      report.notices.append(retryNotice(index, message))
      makeReady(index, at: now)
    case .setAside(let delay, let isNews):
      let candidate = candidates.remove(at: index)
      guard isNews else { return }
      var notice = WatchNotice(
        .setAside,
        message + " It is set aside until it changes" + (id.map { " or you run gighive-upload resume " + $0 } ?? "")
          + (delay.map { ", for " + DurationText.rough($0) + " at most." } ?? "."), .error, path: candidate.path)
      (notice.id, notice.exitCode, notice.size) = (id, judgement.exitCode, candidate.file.size)
      report.notices.append(notice)
    }
  }

  /// What failed is no longer there, or no longer a recording.
  mutating func leave(_ path: [UInt8], _ judgement: WatchCandidate.Judgement) {
    var notice = WatchNotice(.warning, judgement.message, .warning, path: path)
    (notice.id, notice.exitCode) = (judgement.id, judgement.exitCode)
    report.notices.append(notice)
  }

  private func retryNotice(_ index: Int, _ message: String) -> WatchNotice {
    var notice = WatchNotice(.retry, message + " It will be retried.", .warning, path: candidates[index].path)
    notice.id = candidates[index].upload.id
    return notice
  }

  private func name(_ path: [UInt8]) -> String { PrintableText.line(LocalPath(bytes: path).lastComponent) }

  // MARK: The worker's end

  package enum WorkerEnd: Equatable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// The worker has ended. The files that it has not finished are passed to the next one.
  package mutating func workerEnded(_ end: WorkerEnd, now: Int64, unixSeconds: Int64) {
    worker.state = .none
    defer { worker.lastProblem = nil }
    var isUnexpected = false
    // One that ended before it began with any recording may have ended because of the one that it was to begin with.
    let hasBegun = candidates.contains { $0.phase == .given(hasStarted: true) }
    let couldBegin = end != .exited(ExitCode.usage) && end != .exited(WatchMachine.notExecuted)
    for index in candidates.indices {
      guard case .given(let hasStarted) = candidates[index].phase else { continue }
      isUnexpected = true
      makeReady(index, at: now)
      guard hasStarted || !hasBegun && couldBegin else { continue }
      if hasStarted { candidates[index].file.isBegun = true }
      candidates[index].attempts.crashes += 1
      if candidates[index].attempts.crashes >= Limits.watchCrashCount {
        judge(
          index, WorkerEvent.Failure(WatchMachine.message(of: end), exitCode: Int64(ExitCode.internalError)), now,
          unixSeconds, isRetried: true)
      }
    }
    guard isUnexpected else { return }
    report.totals.failedCount += 1
    // Wrong options, or a configuration that the worker does not accept.
    if end == .exited(ExitCode.usage) {
      let failure = WorkerEvent.Failure("the upload process refused its options.", exitCode: Int64(ExitCode.usage))
      return pause(failure, now, unixSeconds)
    }
    noteTrouble(worker.lastProblem?.message ?? WatchMachine.message(of: end), isLocal: true, now, unixSeconds)
  }

  /// The exit code of a program that cannot be executed (shim_spawn).
  private static let notExecuted: Int32 = 127

  private static func message(of end: WorkerEnd) -> String {
    switch end {
    case .exited(notExecuted): "the upload process could not be started (is /proc mounted?)."
    case .exited(let code): "the upload process ended unexpectedly (exit code " + String(code) + ")."
    case .killed(let signal): "the upload process was killed (signal " + String(signal) + ")."
    }
  }
}
