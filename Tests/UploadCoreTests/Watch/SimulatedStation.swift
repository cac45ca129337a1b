@testable import UploadCore

/// A board in fast motion: a directory, a clock, a network, a server, and a worker that uploads one recording after the other. It
/// carries out what a ``WatchMachine`` decides. The machine and the worker can be lost at any time; files and records cannot.
struct SimulatedStation {
  struct File {
    var key: UInt64
    var size: Int64
    var modified: Int64
    /// Until when somebody writes to it.
    var writtenUntil: Int64 = 0
  }

  private struct Job {
    let path: [UInt8]
    let key: UInt64
    /// When it ends; nil before it has begun.
    var endsAt: Int64?
  }

  /// Milliseconds.
  var now: Int64 = 0
  var files: [[UInt8]: File] = [:]
  /// What the records say: the keys that were delivered.
  var records: Set<UInt64> = []
  /// How often the server got each key.
  var deliveries: [UInt64: Int] = [:]
  var isNetworkUp = true
  var canStartWorkers = true
  /// Whether a path ends the worker at once.
  var endsWorker: ([UInt8]) -> Bool = { _ in false }
  /// Too many files are open.
  var cannotOpenFiles = false
  /// What the server says about a path.
  var refuses: ([UInt8]) -> WorkerEvent.Failure? = { _ in nil }
  var uploadMilliseconds: Int64 = 20_000
  /// Whether what is delivered is then removed, and how often that is not possible at once, in percent.
  var removes = false
  var postponesRemovals: Int64 = 0
  /// The keys of files that are still to be removed.
  private(set) var removalsDue: Set<UInt64> = []
  var settings = WatchMachine.Settings(settleMilliseconds: 30_000)
  var machine: WatchMachine
  var notices: [WatchNotice] = []
  private(set) var mostCandidates = 0
  /// How often a worker was to be started.
  private(set) var workerCount = 0
  private var jobs: [Job] = []
  private var isInputOpen = false
  private var isWorkerLost = false
  private var random = SplitMix64(state: 7)
  static let start: Int64 = 1_800_000_000

  init(_ settings: WatchMachine.Settings = WatchMachine.Settings(settleMilliseconds: 30_000)) {
    self.settings = settings
    machine = WatchMachine(settings, seed: 1)
  }

  var unixSeconds: Int64 { SimulatedStation.start + now / 1000 }

  mutating func draw(_ count: Int64) -> Int64 { Int64(random.next() % UInt64(count)) }

  // MARK: What happens

  /// A file changes; the watcher hears of it when it is closed.
  mutating func write(_ path: String, size: Int64 = 1000, for milliseconds: Int64 = 0) {
    let bytes = Array(path.utf8)
    files[bytes] = File(
      key: WatchedFile.key(bytes, [UInt64(size), UInt64(now)]), size: size, modified: unixSeconds,
      writtenUntil: now + milliseconds)
    if milliseconds == 0 { inspect(bytes) }
  }

  mutating func remove(_ path: String) {
    files[Array(path.utf8)] = nil
    inspect(Array(path.utf8))
  }

  mutating func inspect(_ path: [UInt8], asksForWriters: Bool = false, passesKnown: Bool = true) {
    guard let file = files[path] else { return machine.noteInspection(path, .nothing, now: now) }
    if passesKnown, machine.isKnown(file.key, at: path) { return machine.noteInspection(path, .known, now: now) }
    if records.contains(file.key), !removalsDue.contains(file.key) {
      return machine.noteInspection(path, .delivered(key: file.key), now: now)
    }
    let isWritten = file.writtenUntil > now
    machine.noteInspection(
      path,
      .file(
        WatchedFile(
          key: isWritten ? file.key &+ UInt64(now) : file.key, size: file.size, modifiedSeconds: file.modified,
          writers: !asksForWriters
            ? nil : isWritten ? .writer : cannotOpenFiles ? .notNow(SystemError(code: 24)) : .noWriter)), now: now)
  }

  mutating func scan() { for path in files.keys { inspect(path) } }

  /// Power is lost and comes back.
  mutating func reboot() {
    jobs = []
    isInputOpen = false
    let memories = machine.setAsideMemories.map { $0.line }
    machine = WatchMachine(settings, seed: random.next())
    machine.remember(
      memories.compactMap { SetAsideMemory(parsing: Array($0.utf8)) }, now: now, unixSeconds: unixSeconds)
    scan()
  }

  /// The worker ends in the middle of whatever it does.
  mutating func killWorker() {
    isWorkerLost = false
    guard machine.worker.state != .none else { return }
    jobs = []
    isInputOpen = false
    machine.workerEnded(.killed(signal: 9), now: now, unixSeconds: unixSeconds)
  }

  // MARK: Time

  /// Lets the time pass.
  mutating func run(until end: Int64) {
    while true {
      let wish = act()
      let next = min(wish, jobs.compactMap { $0.endsAt }.min() ?? .max)
      if next > end {
        now = end
        return
      }
      now = max(now, next)
      stepWorker()
    }
  }

  private mutating func act() -> Int64 {
    while true {
      let action = machine.next(now: now)
      notices += machine.takeNotices()
      mostCandidates = max(mostCandidates, machine.candidates.count)
      if machine.takeRescan() { scan() }
      switch action {
      case .inspect(let path): inspect(path, asksForWriters: true)
      case .inspectEvenIfKnown(let path): inspect(path, asksForWriters: true, passesKnown: false)
      case .offer(let path):
        inspect(path, asksForWriters: true)
        if machine.give(path) != nil {
          precondition(isInputOpen, "given without a worker")
          jobs.append(Job(path: path, key: files[path]?.key ?? 0))
          stepWorker()
        }
      case .startWorker:
        workerCount += 1
        precondition(workerCount < 100_000, "workers are started in a loop")
        isInputOpen = canStartWorkers
        if canStartWorkers {
          machine.workerStarted()
        } else {
          machine.workerFailed("no memory.", now: now, unixSeconds: unixSeconds)
        }
      case .closeInput:
        isInputOpen = false
        machine.inputClosed()
        stepWorker()
      case .wait(let until): return until
      }
    }
  }

  private mutating func stepWorker() {
    for job in jobs where job.endsAt.map({ $0 <= now }) ?? false { end(job) }
    jobs.removeAll { $0.endsAt.map { $0 <= now } ?? false }
    if isWorkerLost { return killWorker() }
    if let first = jobs.first, first.endsAt == nil, endsWorker(first.path) { return killWorker() }
    var running = jobs.filter { $0.endsAt != nil }.count
    for index in jobs.indices where jobs[index].endsAt == nil && running < settings.jobs {
      // It opens the file, and compares it with the one that was given.
      guard let file = files[jobs[index].path], file.key == jobs[index].key, file.writtenUntil <= now, !cannotOpenFiles
      else {
        tell(.unsettled, jobs[index].path)
        jobs[index].endsAt = .min
        continue
      }
      // A worker without a network tries for a minute.
      jobs[index].endsAt = now + (isNetworkUp ? uploadMilliseconds : 60_000)
      running += 1
      tell(.start, jobs[index].path)
    }
    jobs.removeAll { $0.endsAt == .min }
    if jobs.isEmpty, !isInputOpen, machine.worker.state == .closing {
      machine.workerEnded(.exited(0), now: now, unixSeconds: unixSeconds)
    }
  }

  private mutating func end(_ job: Job) {
    if records.contains(job.key) {
      tell(.skipped(isRemovalDue: removalsDue.contains(job.key)), job.path)
      return remove(job)
    }
    if !isNetworkUp { return tell(.failed(WorkerEvent.Failure("no network.", exitCode: 4, .network)), job.path) }
    guard files[job.path]?.key == job.key else {
      return tell(.failed(WorkerEvent.Failure("changed.", exitCode: 3, .file)), job.path)
    }
    if let failure = refuses(job.path) { return tell(.failed(failure), job.path) }
    precondition(files[job.path]!.writtenUntil <= now, "half-written")
    deliveries[job.key, default: 0] += 1
    records.insert(job.key)
    if removes { removalsDue.insert(job.key) }
    // The worker can be killed before it says so.
    if removes, draw(100) < postponesRemovals / 2 {
      isWorkerLost = true
      return
    }
    tell(.delivered(assetID: 1, size: files[job.path]?.size), job.path)
    remove(job)
  }

  private mutating func remove(_ job: Job) {
    guard removalsDue.contains(job.key), files[job.path]?.key == job.key else { return }
    if draw(100) < postponesRemovals { return tell(.kept("not now.", isTemporary: true), job.path) }
    removalsDue.remove(job.key)
    files[job.path] = nil
    tell(.removed(to: nil), job.path)
  }

  private mutating func tell(_ kind: WorkerEvent.Kind, _ path: [UInt8]) {
    machine.handle(WorkerEvent(kind, path: path), now: now, unixSeconds: unixSeconds)
  }

  // MARK: What came of it

  /// Whether each file was delivered as it is now, and nothing twice.
  var isComplete: Bool {
    files.values.allSatisfy { deliveries[$0.key] == 1 } && deliveries.values.allSatisfy { $0 == 1 }
  }

  func count(_ kind: WatchNotice.Kind) -> Int { notices.filter { $0.kind == kind }.count }
}
