/// Decides what a watcher does with the recordings of a group of directories: when one is finished, which one the worker gets, and what
/// becomes of failures. It makes no system calls. Times are milliseconds of the monotonic clock, unless they are named otherwise.
package struct WatchMachine: Sendable {
  package struct Settings: Sendable {
    /// How long a file must not change.
    package var settleMilliseconds: Int64
    package var order: WatchOrder
    /// Uploads at a time.
    package var jobs: Int
    /// The command after which a secret that was corrected is read; nil if the watcher notices by itself.
    package var restartCommand: String?

    package init(settleMilliseconds: Int64, order: WatchOrder = .oldest, jobs: Int = 1) {
      self.settleMilliseconds = settleMilliseconds
      self.order = order
      self.jobs = jobs
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

  /// What people are told.
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
  var examinations = Examinations()
  var health = DestinationHealth()
  package internal(set) var worker = Worker()
  package var block: Block?
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
      WatchCandidate(path: path, file: file, hasGrown: hasGrown, seenAt: now, dueAt: now + settings.settleMilliseconds))
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
    if hasChanged, hasOtherStatus, file.writers != .writer {
      // It was not written. But it may be readable now.
      if case .judging = candidates[index].phase {
        candidates[index].attempts = WatchCandidate.Attempts()
        return startSettling(index, until: now)
      }
    } else if hasChanged || file.writers == .writer {
      candidates[index].seenAt = now
      candidates[index].attempts = WatchCandidate.Attempts()
      return startSettling(index, until: now + settings.settleMilliseconds)
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

  /// After a restart, which allows it to be sent once more.
  private mutating func hold(_ index: Int, _ pause: WatchedFile.Pause, _ now: Int64) {
    candidates[index].extraFrom = now + (pause.untilExtra == 0 ? Limits.fullSendExtraSeconds * 1000 : pause.untilExtra)
    guard pause.untilExtra > 0 else { return }
    makeReady(index, at: now + pause.remaining)
    candidates[index].waitReason = pause.message ?? "it was sent completely several times, in vain."
  }

  /// A delivery of this size shows that the server takes recordings of up to twice that. Those that only pause between two full sends go on
  /// without it.
  mutating func releasePostponed(afterDelivering size: Int64, _ now: Int64) {
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

  mutating func startSettling(_ index: Int, until: Int64) {
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

  /// Whether a scan is needed, because there was no room for all candidates and there is now. True only once.
  package mutating func takeRescan() -> Bool {
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
    /// Nothing until this time.
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
    var best: Int?
    for index in candidates.indices where candidates[index].phase == .ready && candidates[index].dueAt <= now {
      // One at a time, when nothing is sent.
      if candidates[index].isComparison, givenCount > 0 { continue }
      if let other = best, !candidates[index].precedes(candidates[other], order) { continue }
      best = index
    }
    return best
  }

  /// The file that was offered cannot be given now.
  package mutating func postpone(_ path: [UInt8], now: Int64) {
    guard let index = candidates.position(of: path), candidates[index].phase == .ready else {
      return
    }
    candidates[index].dueAt = now + settings.settleMilliseconds
  }

  /// What the worker does with a recording.
  package struct Task: Equatable, Sendable {
    /// What was judged to be finished.
    package let seen: FileSighting
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
    return Task(seen: candidates[index].file.seen, isComparison: candidates[index].isComparison)
  }

  // MARK: From outside

  /// Another group has delivered the file, which may be what its removal waits for.
  package mutating func noteDeliveryElsewhere(of path: [UInt8], now: Int64) { removals.hasten(path, now) }

  /// The finished recordings that wait to be sent. One that another group has delivered is finished, too.
  package func finished(deliveredBy other: WatchMachine) -> [[UInt8]] {
    candidates.lazy.filter { $0.phase == .ready || !$0.isGiven && other.leftAlone.known.contains($0.file.key) }
      .map { $0.path }
  }

  /// A person asks for it: everything is tried again at once.
  package mutating func retryEverything(now: Int64) {
    retryNow(now: now)
    credentialsChanged(now: now)
    leftAlone.retryNow(now)
    for index in candidates.indices where candidates[index].phase == .ready { makeReady(index, at: now) }
  }

  /// The network has changed: what is unreachable is tried again at once.
  package mutating func retryNow(now: Int64) {
    if health.isUnreachable { health.retryNow(now: now) }
  }

  /// A file with credentials has changed.
  package mutating func credentialsChanged(now: Int64) {
    if health.isPaused { health.retryNow(now: now) }
  }

  package mutating func takeNotices() -> [WatchNotice] {
    defer { report.notices.removeAll() }
    return report.notices
  }

  /// Whether a change of the network matters.
  package var awaitsNetwork: Bool {
    if case .interface = block { return true }
    return health.isUnreachable
  }

  /// Whether a change of the credentials matters.
  package var awaitsCredentials: Bool { health.isPaused }
}
