import Testing
import UploadCore

struct OutputQueueTests {
  private func add(_ text: String, _ kind: OutputQueue.Kind, to queue: OutputQueue) {
    Array(text.utf8).withUnsafeBytes { queue.add($0, kind) }
  }

  /// Reads everything, at most `most` bytes at a time.
  private func drain(_ queue: OutputQueue, most: Int = .max) -> String {
    var bytes: [UInt8] = []
    while !queue.isEmpty {
      let part = queue.next.prefix(most)
      bytes += part
      queue.take(part.count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func linesComeOutAsTheyWentIn(most: Int) {
    let queue = OutputQueue(capacity: 1000)
    for line in ["first\n", "second\n", "third\n"] { add(line, .result, to: queue) }
    #expect(queue.waitingResultCount == 3)
    #expect(drain(queue, most: most) == "first\nsecond\nthird\n")
    #expect(queue.isEmpty && queue.waitingResultCount == 0 && queue.lostResultCount == 0)
  }

  @Test func progressIsLeftOutAsSoonAsAnythingWaits() {
    let queue = OutputQueue(capacity: 1000)
    add("10 %\n", .progress, to: queue)
    add("20 %\n", .progress, to: queue)
    add("delivered\n", .result, to: queue)
    add("30 %\n", .progress, to: queue)
    #expect(drain(queue) == "10 %\ndelivered\n")
    add("40 %\n", .progress, to: queue)
    #expect(drain(queue) == "40 %\n")
  }

  @Test func remarksAreLeftOutBeforeResults() {
    let queue = OutputQueue(capacity: 400)
    for _ in 0..<100 { add("retry\n", .remark, to: queue) }
    for _ in 0..<100 { add("failed\n", .result, to: queue) }
    let lines = drain(queue).split(separator: "\n")
    #expect(lines.filter { $0 == "retry" }.count == 10)  // a quarter of 400 bytes
    #expect(lines.filter { $0 == "failed" }.count == 27)  // and what is left
    #expect(queue.lostResultCount == 100 - 27)
  }

  @Test func aHalfFullBufferAdmitsNoFurtherWork() {
    let queue = OutputQueue(capacity: 1000)
    var count = 0
    while queue.admitsWork {
      add("delivered\n", .result, to: queue)
      count += 1
    }
    #expect(count == 36)
    // Work in progress still finds room.
    #expect(queue.hasRoom(for: 400, .result))
    queue.take(queue.next.count)
    #expect(queue.admitsWork)
  }

  @Test func remarksAndProgressAloneNeverKeepWorkFromBeginning() {
    let queue = OutputQueue(capacity: 1000)
    for _ in 0..<1000 {
      add("10 %\n", .progress, to: queue)
      add("retry\n", .remark, to: queue)
    }
    #expect(queue.admitsWork)
  }

  @Test func lostLinesAreCounted() {
    let queue = OutputQueue(capacity: 100)
    add("start\n", .message, to: queue)
    for _ in 0..<20 { add("delivered\n", .result, to: queue) }
    #expect(queue.lostResultCount == 20 - queue.waitingResultCount)
    queue.take(3)  // half a line is not taken
    queue.abandon()
    #expect(queue.lostResultCount == 20)
    #expect(queue.isEmpty && queue.next.isEmpty)
  }

  @Test func aLineThatIsLongerThanTheRoomIsLost() {
    let queue = OutputQueue(capacity: 100)
    add(String(repeating: "x", count: 97), .result, to: queue)
    #expect(queue.isEmpty && queue.lostResultCount == 1)
    add(String(repeating: "x", count: 96), .result, to: queue)
    #expect(drain(queue).utf8.count == 96 && queue.lostResultCount == 1)
  }

  @Test func aLineThatIsBegunStaysWhole() {
    let queue = OutputQueue(capacity: 200)
    add("a long line of progress\n", .progress, to: queue)
    queue.take(6)
    for _ in 0..<40 { add("delivered\n", .result, to: queue) }
    #expect(drain(queue).hasPrefix(" line of progress\ndelivered\n"))
  }

  /// Whatever is written and read, nothing is mixed up and nothing is lost silently.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func everyResultIsTakenOrCounted(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let queue = OutputQueue(capacity: Int.random(in: 50...500, using: &random))
    var (said, taken) = (0, [UInt8]())
    for number in 0..<2000 {
      if Bool.random(using: &random) {
        let length = Int.random(in: 0...40, using: &random)
        add("\(number) " + String(repeating: ".", count: length) + "\n", .result, to: queue)
        said += 1
      } else {
        let part = queue.next.prefix(Int.random(in: 0...60, using: &random))
        taken += part
        queue.take(part.count)
      }
    }
    taken += drain(queue).utf8
    let lines = String(decoding: taken, as: UTF8.self).split(separator: "\n")
    let numbers = lines.compactMap { Int($0.prefix { $0 != " " }) }
    #expect(numbers.count == lines.count && numbers == numbers.sorted())
    #expect(numbers.count + queue.lostResultCount == said)
  }
}
