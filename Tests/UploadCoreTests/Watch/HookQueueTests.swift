import Testing
import UploadCore

struct HookQueueTests {
  private func messages(_ queue: inout HookQueue) -> [String] {
    var messages: [String] = []
    while let entry = queue.next() { messages.append(entry.notice.message) }
    return messages
  }

  @Test func noticesComeInOrderWithTheirTimes() {
    var queue = HookQueue()
    queue.add(WatchNotice(.started, "one"), unixMilliseconds: 1)
    queue.add(WatchNotice(.delivered, "two"), unixMilliseconds: 2)
    let first = queue.next()
    #expect(first?.notice == WatchNotice(.started, "one"))
    #expect(first?.time == 1)
    #expect(queue.count == 1)
    let rest = messages(&queue)
    #expect(rest == ["two"])
    #expect(queue.takeDroppedCount() == 0)
  }

  @Test func aFullQueueDropsTheOldestInformation() {
    var queue = HookQueue(limit: 3)
    queue.add(WatchNotice(.paused, "error", .error), unixMilliseconds: 0)
    queue.add(WatchNotice(.delivered, "old"), unixMilliseconds: 0)
    queue.add(WatchNotice(.delivered, "new"), unixMilliseconds: 0)
    queue.add(WatchNotice(.setAside, "warning", .warning), unixMilliseconds: 0)
    #expect(queue.count == 3)
    let dropped = [queue.takeDroppedCount(), queue.takeDroppedCount()]
    #expect(dropped == [1, 0])
    let kept = messages(&queue)
    #expect(kept == ["error", "new", "warning"])
  }

  @Test func withoutInformationTheOldestGoes() {
    var queue = HookQueue(limit: 2)
    for message in ["one", "two", "three"] { queue.add(WatchNotice(.paused, message, .error), unixMilliseconds: 0) }
    let kept = messages(&queue)
    #expect(kept == ["two", "three"])
    #expect(queue.takeDroppedCount() == 1)
  }

  @Test func droppedNoticesAreCounted() {
    var queue = HookQueue(limit: 2)
    for message in ["one", "two", "three"] { queue.add(WatchNotice(.delivered, message), unixMilliseconds: 0) }
    queue.abandon()
    #expect(queue.takeDroppedCount() == 3)
    #expect(queue.count == 0)
  }
}
