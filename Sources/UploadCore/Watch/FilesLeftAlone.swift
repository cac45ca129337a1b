/// The files that nothing is done about until they change, or until a date.
struct FilesLeftAlone: Sendable {
  /// Delivered, or not to be sent.
  var known = KnownFiles()
  /// Those that failed.
  var setAside: [SetAsideFile] = [] { didSet { hasChanged = true } }
  /// Those that an earlier watcher has set aside and this one has not found yet, in the order of their keys.
  private var remembered: [(memory: SetAsideMemory, dueAt: Int64)] = []
  /// Whether there was no room for some of those that failed, which count as known.
  private var hasOthers = false
  /// Whether they are to be tried again, too.
  private var retriesOthers = false
  /// Whether ``memories`` may be others since this was set to false.
  var hasChanged = false

  /// Whether it failed, has not changed since, and is not tried again now.
  func isSetAside(_ file: WatchedFile) -> Bool { setAside.contains { $0.key == file.key && !$0.isBeingRetried } }

  /// When the next one is tried again (monotonic clock, in milliseconds); the end of time if none is.
  var nextDueAt: Int64 { setAside.reduce(.max) { $1.isBeingRetried ? $0 : min($0, $1.dueAt) } }

  /// One that is due: it is no longer set aside, until it fails again.
  mutating func takeDue(_ now: Int64) -> [UInt8]? {
    guard let index = setAside.firstIndex(where: { !$0.isBeingRetried && $0.dueAt <= now }) else { return nil }
    setAside[index].isBeingRetried = true
    return setAside[index].path
  }

  /// A person asks for it: all that may be sent without one are due.
  mutating func retryNow(_ now: Int64) {
    retriesOthers = hasOthers
    for index in setAside.indices where setAside[index].dueAt < .max { setAside[index].dueAt = now }
    for index in remembered.indices where remembered[index].dueAt < .max { remembered[index].dueAt = now }
  }

  /// - Returns: whether a scan must find those for which there was no room: there is some now, or all are to be retried.
  mutating func takeOthers() -> Bool {
    guard hasOthers, retriesOthers || setAside.count < Limits.watchSetAsideCount * 7 / 8 else { return false }
    (known, hasOthers, retriesOthers) = (KnownFiles(), false, false)
    return true
  }

  // MARK: Over a restart

  /// What the next watcher should know.
  var memories: [SetAsideMemory] { setAside.map { $0.memory } + remembered.map { $0.memory } }

  mutating func remember(_ memories: [SetAsideMemory], now: Int64, unixSeconds: Int64) {
    remembered = memories.prefix(Limits.watchSetAsideCount).sorted { $0.key < $1.key }.map {
      ($0, $0.delayAtStart(unixSeconds: unixSeconds).map { now + $0 } ?? .max)
    }
  }

  /// A file was found that may be one that was set aside.
  mutating func recall(_ file: WatchedFile, at path: [UInt8], now: Int64) {
    let index = remembered.lowerBound { $0.memory.key < file.key }
    guard index < remembered.count, remembered[index].memory.key == file.key,
      setAside.count < Limits.watchSetAsideCount
    else { return }
    let (memory, dueAt) = remembered.remove(at: index)
    let reason = memory.message.map { SetAsideFile.reason($0) }
    setAside.append(
      SetAsideFile(memory: memory, path: path, toldReason: reason, dueAt: dueAt, isBeingRetried: dueAt <= now))
  }

  /// What becomes of a recording that has failed.
  enum Fate: Equatable {
    /// It is tried again at once.
    case retried
    /// It is set aside for this time, in milliseconds; nil for ever. `isNews` if it was not for this reason before.
    case setAside(Int64?, isNews: Bool)
  }

  mutating func note(_ candidate: WatchCandidate, _ judgement: WatchCandidate.Judgement, now: Int64) -> Fate {
    let index = setAside.firstIndex { $0.key == candidate.file.key }
    guard index != nil || setAside.count < Limits.watchSetAsideCount else {
      known.insert(candidate.file.key)
      hasOthers = true
      return .setAside(nil, isNews: true)
    }
    let before = index.map { setAside.remove(at: $0) }
    let failures = (before?.memory.failures ?? (judgement.isRetried ? 1 : 0)) + 1
    let delay = judgement.again.delay(after: failures)
    let isShown = setAside.count < Limits.watchSetAsideMessages
    let memory = SetAsideMemory(
      key: candidate.file.key, again: judgement.again, failures: failures, failedAt: judgement.since,
      message: isShown ? judgement.message : nil, id: isShown ? judgement.id : nil)
    let reason = delay == 0 ? nil : SetAsideFile.reason(judgement.message)
    setAside.append(
      SetAsideFile(
        memory: memory, path: candidate.path, toldReason: reason, dueAt: delay.map { now + $0 } ?? .max,
        isBeingRetried: delay == 0))
    return delay == 0 ? .retried : .setAside(delay, isNews: reason != before?.toldReason)
  }

  /// What is at the path is examined as if it were new.
  mutating func drop(_ path: [UInt8]) { setAside.removeAll { $0.path == path } }

  /// The same for another file than this one.
  mutating func drop(_ path: [UInt8], butNot file: WatchedFile) {
    setAside.removeAll { $0.path == path && $0.key != file.key }
  }

  /// The known ones have no paths, so all of them are looked up again.
  mutating func forget(under prefix: [UInt8]) {
    known = KnownFiles()
    setAside.removeAll { $0.path.starts(with: prefix) }
  }
}

/// The sizes of the recordings that were delivered last, by path. The writer of one that has grown since closes it after each take, or
/// saves it from time to time: it is given more time to settle, so that not every stage of it is delivered.
struct DeliveredSizes: Sendable {
  private var entries: [(path: UInt64, size: Int64)] = []

  mutating func note(_ path: [UInt8], _ size: Int64) {
    let path = WatchedFile.key(path, [])
    entries.removeAll { $0.path == path }
    if entries.count == Limits.watchedGrowthCount { entries.removeFirst() }
    entries.append((path, size))
  }

  func hasGrown(_ path: [UInt8], to size: Int64) -> Bool {
    let path = WatchedFile.key(path, [])
    return entries.contains { $0.path == path && $0.size < size }
  }
}

/// A recording that failed, and is not tried again until it changes or is due.
struct SetAsideFile: Sendable {
  let memory: SetAsideMemory
  let path: [UInt8]
  /// A hash of the reason that people were told; nil if it was tried again at once.
  let toldReason: UInt64?
  /// On the monotonic clock, in milliseconds; the end of time if only a person can have it sent.
  var dueAt: Int64
  /// Whether it is due and has not failed again.
  var isBeingRetried: Bool

  var key: UInt64 { memory.key }

  /// Nil if there are too many.
  var shown: WatchSnapshot.SetAside? {
    memory.message.map { WatchSnapshot.SetAside(id: memory.id, path: path, message: $0, since: memory.failedAt) }
  }

  static func reason(_ message: String) -> UInt64 { WatchedFile.key(Array(message.utf8), []) }
}

/// What a watcher remembers of a recording that it has set aside, so that the next one does not try it again at once: a line of a file in the
/// state directory.
package struct SetAsideMemory: Equatable, Sendable {
  /// The recording's ``WatchedFile/key``, and so not that of one that has changed since.
  let key: UInt64
  let again: Reattempt
  let failures: Int
  /// When it failed last, in seconds since 1970.
  let failedAt: Int64
  /// What people are shown; nil if there are too many.
  let message: String?
  let id: String?

  /// When it is tried, as long as the watcher runs: in milliseconds from now, 0 if it is due, nil for never. A cause that may pass is tried
  /// after an hour at most.
  func delayAtStart(unixSeconds: Int64) -> Int64? {
    guard var delay = again.delay(after: failures) else { return nil }
    if again.mayPass(after: failures) { delay = min(delay, Limits.watchReattemptAtStartMilliseconds) }
    let (passed, overflows) = unixSeconds.subtractingReportingOverflow(failedAt)
    // The clock was wrong then, or is now.
    guard !overflows, passed >= 0 else { return delay }
    return passed >= delay / 1000 ? 0 : delay - passed * 1000
  }
}

extension SetAsideMemory {
  /// - Parameter line: without its end.
  /// - Returns: nil if it is no such line.
  package init?(parsing line: [UInt8]) {
    guard let value = try? JSONReader.read(line), let key = value["key"]?.string, let key = UInt64(key, radix: 16),
      let again = value["again"]?.string.flatMap({ Reattempt(rawValue: $0) }),
      let failures = value["failures"]?.integer, failures > 0, failures < Int32.max,
      let failedAt = value["failed_at"]?.integer
    else { return nil }
    (self.key, self.again, self.failures, self.failedAt) = (key, again, Int(failures), failedAt)
    (message, id) = (value["message"]?.string, value["id"]?.string)
  }

  package var line: String {
    var line = JSONWriter()
    line.add("key", String(key, radix: 16))
    line.add("again", again.rawValue)
    line.add("failures", Int64(failures))
    line.add("failed_at", failedAt)
    if let message { line.add("message", message) }
    if let id { line.add("id", id) }
    return line.finished()
  }
}

extension Limits {
  /// Recordings set aside that are remembered with their messages, and in all: 400 KiB at most. More of them are neither counted nor tried
  /// again until the next start.
  static let watchSetAsideMessages = 256
  static let watchSetAsideCount = 2048
  /// Recordings whose delivered size a watcher remembers.
  static let watchedGrowthCount = 1024
}
