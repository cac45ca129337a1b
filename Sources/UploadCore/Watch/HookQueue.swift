/// Notices that wait for the program of `--on-event`, in order. Their number is limited, so that a program that hangs does not use
/// up the memory: then the oldest informational one is dropped, or if there is none, the oldest one.
package struct HookQueue {
  package struct Entry: Equatable {
    package let notice: WatchNotice
    /// In milliseconds since 1970.
    package let time: Int64
  }

  private var entries: [Entry] = []
  private let limit: Int
  /// Since the last ``takeDroppedCount()``.
  private var droppedCount = 0

  package init(limit: Int = Limits.hookQueueCount) { self.limit = limit }

  package var count: Int { entries.count }

  package mutating func add(_ notice: WatchNotice, unixMilliseconds time: Int64) {
    if entries.count == limit {
      entries.remove(at: entries.firstIndex { $0.notice.priority == .information } ?? 0)
      droppedCount += 1
    }
    entries.append(Entry(notice: notice, time: time))
  }

  package mutating func next() -> Entry? { entries.isEmpty ? nil : entries.removeFirst() }

  package mutating func takeDroppedCount() -> Int {
    defer { droppedCount = 0 }
    return droppedCount
  }

  /// Drops all waiting notices.
  package mutating func abandon() {
    droppedCount += entries.count
    entries = []
  }
}

/// When a run of the `--on-event` program is ended: SIGTERM after a limit, or when the watcher ends, then SIGKILL.
package struct HookDeadline {
  package enum Step: Equatable { case nothing, terminate, kill }

  /// When there is something to do (monotonic clock, in milliseconds).
  package private(set) var due: Int64
  /// Whether it got SIGTERM.
  package private(set) var isOver = false
  private var grace: Int64

  /// - Parameters:
  ///   - now: of the monotonic clock, in milliseconds, like the others.
  ///   - limit: how long the program may take.
  ///   - grace: how long it then has.
  package init(
    now: Int64, limit: Int64 = Limits.hookMilliseconds, grace: Int64 = Limits.hookGraceMilliseconds
  ) {
    due = now + limit
    self.grace = grace
  }

  /// The watcher ends: the program has less time.
  package mutating func shorten(now: Int64, grace: Int64 = Limits.hookEndGraceMilliseconds) {
    due = min(due, isOver ? now + grace : now)
    self.grace = grace
  }

  /// What to do with a program that is still running.
  package mutating func step(now: Int64) -> Step {
    guard now >= due else { return .nothing }
    due = now + grace
    defer { isOver = true }
    return isOver ? .kill : .terminate
  }
}

extension Limits {
  /// Events that wait for the program of `--on-event`, each a few hundred bytes.
  static let hookQueueCount = 64
}
