/// Decides what a watcher does with the recordings of a group of directories: when one is finished, which one the worker gets, and what
/// becomes of failures. It makes no system calls. Times are milliseconds of the monotonic clock, unless they are named otherwise.
package struct WatchMachine: Sendable {
  package struct Settings: Sendable {
    /// How long a file must not change.
    package var settleMilliseconds: Int64
    package var order: WatchOrder
    /// Uploads at a time.
    package var jobs: Int
    /// How recordings are sent while they are made; nil if they are not.
    package var live: LiveSending?
    /// The command after which a secret that was corrected is read; nil if the watcher notices by itself.
    package var restartCommand: String?

    package init(settleMilliseconds: Int64, order: WatchOrder = .oldest, jobs: Int = 1) {
      self.settleMilliseconds = settleMilliseconds
      self.order = order
      self.jobs = jobs
    }

    /// How soon a file that is being written is examined again.
    var growthMilliseconds: Int64 {
      live != nil ? min(settleMilliseconds, Limits.watchGrowthMilliseconds) : settleMilliseconds
    }

    /// The settle time where files that are open for writing cannot be detected.
    var blindSettleMilliseconds: Int64 { max(settleMilliseconds, Limits.watchBlindSettleMilliseconds) }

    /// The settle time of a recording that has grown since it was delivered.
    var growthSettleMilliseconds: Int64 {
      let (time, overflows) = settleMilliseconds.multipliedReportingOverflow(by: Limits.watchGrowthFactor)
      return max(settleMilliseconds, overflows ? .max : min(time, Limits.watchGrowthSettleMilliseconds))
    }
  }

  /// Why no recording can be sent.
  package enum Block: Equatable, Sendable {
    case clock
    case interface(String)
    /// An upload that began before a reload of the configuration has not ended.
    case formerUpload
    /// A signal such as SIGSTOP has stopped a process of the group.
    case stopped(process: Int32)
  }

  /// The process that sends the recordings.
  package struct Worker: Sendable {
    package enum State: Equatable, Sendable {
      case none
      case open
      /// It gets no more files, and ends when it is done.
      case closing
    }

    package internal(set) var state = State.none
    /// The last failure that concerns no file, in case it ends.
    var lastProblem: WorkerEvent.Failure?
  }

  /// What is to be examined without a new event.
  struct Examinations: Sendable {
    /// As soon as possible.
    var paths: [[UInt8]] = []
    /// Whether there was a candidate too many, so that another scan is needed when there is room.
    var needsScan = false
  }

  struct Report: Sendable {
    var notices: [WatchNotice] = []
    var lastDelivery: WatchSnapshot.LastDelivery?
    var totals = WatchSnapshot.Totals()
    var hasToldOtherEvent = false
  }

  let settings: Settings
  var random: SplitMix64
  var candidates = CandidateList()
  var leftAlone = FilesLeftAlone()
  var removals = PostponedRemovals()
  var delivered = DeliveredSizes()
  private var examinations = Examinations()
  var health = DestinationHealth()
  package internal(set) var worker = Worker()
  package var block: Block?
  /// When the monotonic clock was 0, by the clock: seconds since 1970.
  private var clockStartedAt: Int64?
  var report = Report()

  /// - Parameter seed: random bits, for the jitter of retries.
  package init(_ settings: Settings, seed: UInt64) {
    self.settings = settings
    random = SplitMix64(state: seed)
  }

  // MARK: Files

  /// Whether the file's records need no check, because nothing has changed since the last one. A candidate always needs one: it may be
  /// delivered, and still have to be removed.
  package func isKnown(_ key: UInt64, at path: [UInt8]) -> Bool {
    leftAlone.known.contains(key) && !isCandidate(path)
  }

  /// The result of examining a path: after an event, in a scan, or for an action.
  package mutating func noteInspection(_ path: [UInt8], _ inspection: FileInspection, now: Int64) {
    let index = candidates.position(of: path)
    switch inspection {
    case .known: leftAlone.drop(path)
    case .nothing:
      if let index, case .judging(let judgement) = candidates[index].phase { leave(path, judgement) }
      drop(path, index)
      removals.drop(path)
    case .delivered(let key):
      leftAlone.known.insert(key)
      drop(path, index)
      removals.drop(path)
    case .file(let file):
      if let index { update(index, file, now) } else { add(path, file, now) }
    case .unknown:
      if let index, !candidates[index].isGiven { startSettling(index, until: now + settings.settleMilliseconds) }
    }
  }

  /// Whether a recording at this path waits to be sent.
  private func isCandidate(_ path: [UInt8]) -> Bool { candidates.position(of: path) != nil }

  /// Whether something is known about the path that must not be forgotten.
  package func isTracked(_ path: [UInt8]) -> Bool {
    isCandidate(path) || leftAlone.setAside.contains { $0.path == path } || removals.contains(path)
  }

  private mutating func drop(_ path: [UInt8], _ index: Int?) {
    if let index, !candidates[index].isGiven { candidates.remove(at: index) }
    leftAlone.drop(path)
  }

  private mutating func add(_ path: [UInt8], _ file: WatchedFile, _ now: Int64) {
    leftAlone.recall(file, at: path, now: now)
    if leftAlone.isSetAside(file) { return }
    leftAlone.drop(path, butNot: file)
    guard candidates.count < Limits.watchedCandidates else {
      examinations.needsScan = true
      return
    }
    let hasGrown = delivered.hasGrown(path, to: file.size)
    candidates.append(
      WatchCandidate(path: path, file: file, hasGrown: hasGrown, seenAt: now, dueAt: now + settings.growthMilliseconds))
  }

  private mutating func update(_ index: Int, _ file: WatchedFile, _ now: Int64) {
    if candidates[index].isGiven {
      // The worker notices changes of a file that it reads. When it ends, the file is examined again.
      return
    }
    let hasChanged = file.key != candidates[index].file.key
    let hasOtherStatus = file.seen.hasOnlyOtherStatus(than: candidates[index].file.seen)
    if case .judging(let judgement) = candidates[index].phase, !hasChanged {
      return noteVerdict(index, judgement, now)
    }
    // Only the records can tell that an upload has begun, so this is kept.
    let isBegun = candidates[index].file.isBegun || file.isBegun
    candidates[index].file = file
    candidates[index].file.isBegun = isBegun
    if hasChanged {
      candidates[index].isComparison = false
      leftAlone.drop(candidates[index].path)
    }
    if mayBeSentWhileMade(candidates[index]) {
      candidates[index].isGrowing = true
      if candidates[index].phase != .ready { makeReady(index, at: now) }
      return
    }
    candidates[index].isGrowing = false
    if hasChanged, hasOtherStatus, file.writers != .writer {
      // It was not written. But it may be readable now.
      if case .judging = candidates[index].phase {
        candidates[index].attempts = WatchCandidate.Attempts()
        return startSettling(index, until: now)
      }
    } else if hasChanged || file.writers == .writer {
      candidates[index].seenAt = now
      candidates[index].attempts = WatchCandidate.Attempts()
      return startSettling(index, until: now + settings.growthMilliseconds)
    }
    var settleTime =
      candidates[index].hasGrown ? settings.growthSettleMilliseconds : settings.settleMilliseconds
    switch file.writers {
    case nil: return
    case .notNow: return startSettling(index, until: now + settings.settleMilliseconds)
    case .undetectable: settleTime = max(settleTime, settings.blindSettleMilliseconds)
    case .noWriter, .writer: break
    }
    guard candidates[index].phase == .settling else { return }
    let settledAt = candidates[index].seenAt + settleTime
    if now < settledAt { return startSettling(index, until: settledAt) }
    makeReady(index, at: now)
    if let pause = file.pause { hold(index, pause, now) }
  }

  /// Whether a recording that is being written is sent nevertheless. One that failed for a reason of its own is sent when it has ended, and
  /// one that was delivered before is compared then.
  private func mayBeSentWhileMade(_ candidate: WatchCandidate) -> Bool {
    guard let live = settings.live else { return false }
    return candidate.file.writers == .writer && !candidate.file.isMarked && !candidate.hasFailedWhileMade
      && !candidate.isComparison
      && candidate.file.size >= live.startingSize
  }

  /// After a restart, which allows it to be sent once more.
  private mutating func hold(_ index: Int, _ pause: WatchedFile.Pause, _ now: Int64) {
    candidates[index].extraFrom = now + (pause.untilExtra == 0 ? Limits.fullSendExtraSeconds * 1000 : pause.untilExtra)
    guard pause.untilExtra > 0 else { return }
    makeReady(index, at: now + pause.remaining)
    candidates[index].waitReason = pause.message ?? "it was sent completely several times without success."
  }

  /// A delivery of this size shows that the server takes recordings of up to twice that. Those that only pause between two full sends go on
  /// without it.
  private mutating func releasePostponed(afterDelivering size: Int64, _ now: Int64) {
    let afterPauses = now + (Limits.fullSendPauseSeconds.max() ?? 0) * 1000
    for index in candidates.indices
    where candidates[index].phase == .ready && candidates[index].waitReason != nil
      && candidates[index].dueAt > afterPauses && candidates[index].extraFrom <= now
      && candidates[index].file.size / 2 <= size
    {
      makeReady(index, at: now)
      candidates[index].extraFrom = now + Limits.fullSendExtraSeconds * 1000
    }
  }

  private mutating func startSettling(_ index: Int, until: Int64) {
    candidates[index].phase = .settling
    candidates[index].dueAt = until
  }

  /// Forgets a directory that is gone or out of reach, except what the worker has: it reports the end of that. Another disk at its place
  /// may have files of the same names, sizes and times.
  package mutating func forget(under directory: [UInt8]) {
    let prefix = directory + [ASCII.slash]
    candidates.removeAll { !$0.isGiven && $0.path.starts(with: prefix) }
    leftAlone.forget(under: prefix)
    removals.drop(under: prefix)
  }

  /// Whether a scan is needed, because there was no room for something and there is now. True only once.
  package mutating func takeRescan() -> Bool {
    if removals.takeOthers() {
      leftAlone.known = KnownFiles()
      examinations.needsScan = true
    }
    if leftAlone.takeOthers() { examinations.needsScan = true }
    guard examinations.needsScan, candidates.count < Limits.watchedCandidates / 2 else { return false }
    examinations.needsScan = false
    return true
  }

  // MARK: Over a restart

  /// What the next watcher should know of the recordings that are set aside.
  package var setAsideMemories: [SetAsideMemory] { leftAlone.memories }

  /// Whether that may have changed since the last call.
  package mutating func takeSetAsideChange() -> Bool {
    defer { leftAlone.hasChanged = false }
    return leftAlone.hasChanged
  }

  /// What an earlier watcher has left, once the clock is set.
  package mutating func remember(_ memories: [SetAsideMemory], now: Int64, unixSeconds: Int64) {
    leftAlone.remember(memories, now: now, unixSeconds: unixSeconds)
    for candidate in candidates where !candidate.isGiven {
      leftAlone.recall(candidate.file, at: candidate.path, now: now)
    }
    let leftAlone = leftAlone
    candidates.removeAll { !$0.isGiven && leftAlone.isSetAside($0.file) }
  }

  // MARK: What next

  package enum Action: Equatable, Sendable {
    /// Inspect the file and who writes to it, and call ``noteInspection(_:_:now:)``.
    case inspect([UInt8])
    /// The same, even if it is known.
    case inspectEvenIfKnown([UInt8])
    /// The same, and then give it to the worker if ``give(_:)`` says so.
    case offer([UInt8])
    case startWorker
    /// Close the worker's input: it ends when it is done.
    case closeInput
    case wait(until: Int64)
  }

  /// What to do now. Each action must be carried out before the next one is asked for.
  package mutating func next(now: Int64) -> Action {
    if let path = examinations.paths.popLast() { return .inspect(path) }
    if let due = removals.takeDue(now) { return .inspectEvenIfKnown(due) }
    if let due = leftAlone.takeDue(now) { return .inspect(due) }
    var until = min(removals.nextDueAt, leftAlone.nextDueAt)
    for index in candidates.indices {
      switch candidates[index].phase {
      case .settling, .judging:
        if candidates[index].dueAt <= now {
          // In case there is no response.
          candidates[index].dueAt = now + settings.settleMilliseconds
          return .inspect(candidates[index].path)
        }
        until = min(until, candidates[index].dueAt)
      case .ready: if candidates[index].dueAt > now { until = min(until, candidates[index].dueAt) }
      case .given: break
      }
    }
    let best = block == nil ? best(now) : nil
    let attemptAt = health.nextAttemptAt
    if best != nil, let attemptAt, attemptAt > now { until = min(until, attemptAt) }
    let mayGive = health.isReady || (attemptAt.map { $0 <= now } ?? false) && givenCount == 0
    switch worker.state {
    case .none where best != nil && mayGive: return .startWorker
    case .open:
      if let best, mayGive {
        if hasRoom { return .offer(candidates[best].path) }
      } else if givenCount == 0 || !health.isReady || block != nil {
        return .closeInput
      }
    case .none, .closing: break
    }
    return .wait(until: until)
  }

  private var givenCount: Int { candidates.reduce(0) { $1.isGiven ? $0 + 1 : $0 } }

  /// Whether the worker can take another file. Files that only wait for the server do not take the place of others.
  private var hasRoom: Bool {
    let waiting = candidates.reduce(0) { $1.phase == .given(hasStarted: false) ? $0 + 1 : $0 }
    return waiting < Limits.watchedAheadCount && givenCount < settings.jobs + Limits.waitingUploadCount
  }

  /// The next candidate to send; nil if none can be. A paused destination is probed with the smallest one.
  private func best(_ now: Int64) -> Int? {
    var order = settings.order
    if health.isPaused { order = .smallest }
    let given = candidates.filter { $0.isGiven }
    let madeCount = given.reduce(0) { $1.isGrowing ? $0 + 1 : $0 }
    var best: Int?
    for index in candidates.indices where candidates[index].phase == .ready && candidates[index].dueAt <= now {
      // It has got another name, and is sent as it was called before.
      let identity = candidates[index].file.seen.identity
      if given.contains(where: { $0.file.seen.identity.isSameFile(as: identity) }) { continue }
      // One at a time, when nothing is sent.
      if candidates[index].isComparison, givenCount > 0 { continue }
      // One place is for what is finished.
      if candidates[index].isGrowing, settings.jobs > 1, madeCount >= settings.jobs - 1 { continue }
      if let other = best, !candidates[index].precedes(candidates[other], order) { continue }
      best = index
    }
    return best
  }

  package struct Task: Equatable, Sendable {
    /// What was judged to be finished; nil if it is sent while it is made.
    package let seen: FileSighting?
    /// Whether it compares a delivered recording that may have been changed since, and sends it only if it has.
    package let isComparison: Bool
  }

  /// What the worker is to do now; nil if something has changed since it was offered.
  package mutating func give(_ path: [UInt8]) -> Task? {
    guard let index = candidates.position(of: path), candidates[index].phase == .ready,
      worker.state == .open
    else { return nil }
    candidates[index].phase = .given(hasStarted: false)
    candidates[index].waitReason = nil
    candidates[index].upload = WatchSnapshot.Upload(path: path)
    candidates[index].upload.totalBytes = candidates[index].file.size
    candidates[index].progressAt = nil
    health.beginAttempt()
    let candidate = candidates[index]
    return Task(seen: candidate.isGrowing ? nil : candidate.file.seen, isComparison: candidate.isComparison)
  }

  // MARK: From outside

  /// Another group has delivered the file, which may be what its removal waits for.
  package mutating func noteDeliveryElsewhere(of path: [UInt8], now: Int64) { removals.hasten(path, now) }

  /// A person asks for it: everything is tried again at once.
  package mutating func retryEverything(now: Int64) {
    retryFailed(now: now)
    for index in candidates.indices where candidates[index].phase == .ready { makeReady(index, at: now) }
  }

  private mutating func retryFailed(now: Int64) {
    retryNow(now: now)
    credentialsChanged(now: now)
    leftAlone.retryNow(now)
  }

  /// The network has changed: what is unreachable is tried again at once.
  package mutating func retryNow(now: Int64) {
    if health.isUnreachable { health.retryNow(now: now) }
  }

  /// If the clock was set, what failed is tried again at once: the time of a recording may have been too far ahead, or a certificate not
  /// valid yet. What was sent in full still waits.
  package mutating func noteClock(unixSeconds: Int64, now: Int64) {
    let started = unixSeconds - now / 1000
    if let clockStartedAt, abs(started - clockStartedAt) < Limits.clockJumpSeconds { return }
    if clockStartedAt != nil { retryFailed(now: now) }
    clockStartedAt = started
  }

  package mutating func credentialsChanged(now: Int64) {
    if health.isPaused { health.retryNow(now: now) }
  }

  package mutating func takeNotices() -> [WatchNotice] {
    defer { report.notices.removeAll() }
    return report.notices
  }

  package var awaitsNetwork: Bool {
    if case .interface = block { return true }
    return health.isUnreachable
  }

  package var awaitsCredentials: Bool { health.isPaused }
}

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
    case .progress(let bytes, let total, let behindSeconds):
      noteProgress(index, bytes, total, now)
      candidates[index].upload.noteArrival(until: behindSeconds.map { max(0, unixSeconds - $0) })
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
    case .removing, .removed, .kept, .other: break
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
      candidates[index].waitReason = failure.message
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

  private mutating func makeReady(_ index: Int, at time: Int64) {
    candidates[index].phase = .ready
    candidates[index].dueAt = time
    candidates[index].waitReason = nil
  }

  private mutating func judge(
    _ index: Int, _ failure: WorkerEvent.Failure, _ now: Int64, _ unixSeconds: Int64, isRetried: Bool = false
  ) {
    if candidates[index].isGrowing, failure.again != .never {
      candidates[index].hasFailedWhileMade = true
      report.notices.append(retryNotice(index, failure.message))
      return startSettling(index, until: now + settings.settleMilliseconds)
    }
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
  private mutating func noteVerdict(_ index: Int, _ judgement: WatchCandidate.Judgement, _ now: Int64) {
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

extension WatchMachine {
  /// What is shown of the group.
  /// - Parameters:
  ///   - destination: the URL without credentials and query.
  ///   - formerUploads: in progress with the options before a reload.
  ///   - now: of the monotonic clock, in milliseconds.
  ///   - unixSeconds: the same time by the clock.
  package func snapshot(
    destination: String, _ directories: [WatchSnapshot.Directory], formerUploads: [WatchSnapshot.Upload] = [],
    now: Int64, unixSeconds: Int64
  ) -> WatchSnapshot.Group {
    var group = WatchSnapshot.Group(destination: destination)
    group.directories = directories
    group.state = destinationState(now: now, unixSeconds: unixSeconds)
    group.uploads = uploads + formerUploads
    for candidate in candidates where !group.uploads.contains(where: { $0.path == candidate.path }) {
      group.waitingCount += 1
      group.waitingBytes += candidate.file.size
      if let reason = candidate.unreadyReason {
        group.unreadyCount += 1
        guard group.unready.count < Limits.setAsideShown else { continue }
        group.unready.append(.init(id: candidate.upload.id, path: candidate.path, message: reason, since: nil))
      }
      guard let reason = candidate.waitReason, candidate.dueAt > now else { continue }
      group.postponedCount += 1
      guard group.postponed.count < Limits.setAsideShown else { continue }
      var shown = WatchSnapshot.SetAside(id: candidate.upload.id, path: candidate.path, message: reason, since: nil)
      shown.nextAttempt = unixSeconds + (candidate.dueAt - now) / 1000
      group.postponed.append(shown)
    }
    let setAside = leftAlone.setAside.lazy.filter { !$0.isBeingRetried }
    for entry in setAside {
      guard group.setAside.count < Limits.setAsideShown else { break }
      guard var shown = entry.shown else { continue }
      if entry.dueAt < .max { shown.nextAttempt = unixSeconds + max(0, entry.dueAt - now) / 1000 }
      group.setAside.append(shown)
    }
    group.setAsideCount = setAside.count
    group.lastDelivery = report.lastDelivery
    group.totals = report.totals
    return group
  }

  package var uploads: [WatchSnapshot.Upload] {
    candidates.indices.lazy.map { candidates[$0] }.filter { $0.phase == .given(hasStarted: true) }.map { $0.upload }
  }

  private func destinationState(now: Int64, unixSeconds: Int64) -> WatchSnapshot.DestinationState {
    switch block {
    case .clock: return .waitingForClock
    case .interface(let name): return .waitingForInterface(name)
    case .formerUpload: return .waitingForFormerUpload
    case .stopped(let process): return .stopped(process: process)
    case nil: break
    }
    guard let trouble = health.trouble else { return .ready }
    let due = candidates.reduce(Int64.max) { $1.phase == .ready ? min($0, $1.dueAt) : $0 }
    let attempt = health.nextAttemptAt.map { due == .max ? $0 : max(due, $0) } ?? now
    let nextAttempt = unixSeconds + max(0, attempt - now) / 1000
    return .trouble(trouble.kind, since: trouble.since, nextAttempt: nextAttempt, message: trouble.message)
  }
}

/// What a group has done since the watcher started. A group that replaces it after a reload of the configuration goes on counting.
package struct WatchHistory: Equatable, Sendable {
  let destination: String
  let directories: [LocalPath]
  var totals: WatchSnapshot.Totals
  var lastDelivery: WatchSnapshot.LastDelivery?

  /// The history with which each group continues, if any: one with the same destination, preferably of one of its directories. No
  /// history is used twice.
  package static func assigned(
    _ histories: [WatchHistory], to groups: [(destination: String, directories: [LocalPath])]
  ) -> [WatchHistory?] {
    var rest = histories
    var assigned = [WatchHistory?](repeating: nil, count: groups.count)
    for needsDirectory in [true, false] {
      for (index, group) in groups.enumerated() where assigned[index] == nil {
        let found = rest.firstIndex { history in
          history.destination == group.destination
            && (!needsDirectory || history.directories.contains { group.directories.contains($0) })
        }
        assigned[index] = found.map { rest.remove(at: $0) }
      }
    }
    return assigned
  }
}

extension WatchMachine {
  /// What it has counted, from now on somewhere else.
  package mutating func takeHistory(destination: String, directories: [LocalPath]) -> WatchHistory {
    defer { report.totals = WatchSnapshot.Totals() }
    return WatchHistory(
      destination: destination, directories: directories, totals: report.totals, lastDelivery: report.lastDelivery)
  }

  /// Counts what another group has done as its own.
  package mutating func add(_ history: WatchHistory) {
    report.totals += history.totals
    guard let last = history.lastDelivery, last.at >= report.lastDelivery?.at ?? .min else { return }
    report.lastDelivery = last
  }
}

extension Limits {
  /// Recordings that are found and not delivered; for more of them, the directories are scanned again when there is room.
  static let watchedCandidates = 4096
  /// Files passed to the worker that it has not started yet: one more than it uploads at a time, so that it never waits.
  static let watchedAheadCount = 2
  /// Attempts with one recording that end in a server failure, while others are delivered, before it is set aside.
  static let watchServerFailureCount = 3
  /// How often the worker may end during one recording before that is set aside.
  static let watchCrashCount = 3
  /// How often a watcher that sends recordings while they are made looks at one that is too short for that, in milliseconds.
  static let watchGrowthMilliseconds: Int64 = 2000
  /// A change of the clock by which what failed may succeed, in seconds.
  static let clockJumpSeconds: Int64 = 24 * 3600
  /// How much longer a recording that has grown since its delivery settles, and the longest time for that, in milliseconds.
  static let watchGrowthFactor: Int64 = 10
  static let watchGrowthSettleMilliseconds: Int64 = 3_600_000
  /// When a recording that another process works on is tried again, in milliseconds.
  static let watchConflictMilliseconds: Int64 = 60_000
}
