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
