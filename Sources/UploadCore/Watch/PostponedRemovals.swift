/// The recordings that were delivered and are still to be removed, at most ``Limits/watchedRemovals``.
struct PostponedRemovals: Sendable {
  private var removals: [PostponedRemoval] = []
  /// That of the server that must confirm them.
  var silence = ServerSilence()
  /// The reasons that were reported, as hashes with their paths, so that each is reported only once.
  private(set) var reported: [UInt64] = []

  /// Whether there was no room for some.
  private var hasOthers = false

  var count: Int { removals.count }

  /// When the next one is due; the end of time if there is none.
  var nextDueAt: Int64 { max(removals.reduce(Int64.max) { min($0, $1.dueAt) }, silence.endsAt ?? .min) }

  func contains(_ path: [UInt8]) -> Bool { removals.contains { $0.path == path } }

  mutating func add(_ path: [UInt8], _ now: Int64) {
    if contains(path) { return }
    guard removals.count < Limits.watchedRemovals else {
      hasOthers = true
      return
    }
    removals.append(PostponedRemoval(path, now))
  }

  /// - Returns: whether there is room for those for which there was none, which a scan must find.
  mutating func takeOthers() -> Bool {
    guard hasOthers, removals.count < Limits.watchedRemovals / 2 else { return false }
    hasOthers = false
    return true
  }

  /// What held it up may be over.
  mutating func hasten(_ path: [UInt8], _ now: Int64) {
    if let index = removals.firstIndex(where: { $0.path == path }) { removals[index].dueAt = now }
  }

  mutating func drop(_ path: [UInt8]) { removals.removeAll { $0.path == path } }

  mutating func drop(under prefix: [UInt8]) { removals.removeAll { $0.path.starts(with: prefix) } }

  /// The one that has been due for longest, which is then postponed. Another one than last time is asked about: perhaps the server cannot
  /// answer for that one.
  mutating func takeDue(_ now: Int64) -> [UInt8]? {
    guard silence.allowsQuestion(now),
      let index = removals.indices.min(by: { removals[$0].dueAt < removals[$1].dueAt }), removals[index].dueAt <= now
    else { return nil }
    silence.beginQuestion(now)
    removals[index].postpone(now)
    return removals[index].path
  }

  /// Whether it was not reported yet that the file stays for this reason. It then counts as reported.
  mutating func isNews(_ message: String, of path: [UInt8]) -> Bool {
    let key = WatchedFile.key(path + message.utf8, [])
    if reported.contains(key) { return false }
    if reported.count == Limits.setAsideShown { reported.removeFirst() }
    reported.append(key)
    return true
  }
}

/// A recording that was delivered and could not be removed at that moment.
private struct PostponedRemoval: Sendable {
  let path: [UInt8]
  /// When to examine it again (monotonic clock), in milliseconds.
  var dueAt: Int64
  private var failures = 1

  init(_ path: [UInt8], _ now: Int64) {
    self.path = path
    dueAt = now + Limits.removalDelayMilliseconds(afterFailures: failures)
  }

  mutating func postpone(_ now: Int64) {
    failures += 1
    dueAt = now + Limits.removalDelayMilliseconds(afterFailures: failures)
  }
}

extension Limits {
  /// Recordings whose removal a watcher tries again. Those for which there is no room wait until half of them are removed.
  static let watchedRemovals = 1024
}
