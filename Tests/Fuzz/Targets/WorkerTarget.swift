/// What a worker writes: lines with events, of which a watcher makes notices.
enum WorkerTarget {
  /// The recordings that the worker has been given. The last one is never named.
  private static let given = ["/rec/a.wav", "/rec/b.wav", "/never named"].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    let found = lines(input, by: max(1, input.count))
    require(found == expected(input), "other lines than there are")
    require(lines(input, by: 1) == found, "other lines byte by byte")
    require(lines(input, by: input.count / 2 + 1) == found, "other lines in two pieces")
    watch(found.compactMap { WorkerEvent(parsing: $0) }.filter { $0.path != given[2] })
    for line in found { examine(line) }
  }

  private static func lines(_ input: [UInt8], by length: Int) -> [[UInt8]] {
    var lines = WorkerLines()
    var found: [[UInt8]] = []
    for start in stride(from: 0, to: input.count, by: length) {
      lines.add(input[start..<min(start + length, input.count)]) { found.append($0) }
    }
    return found
  }

  private static func expected(_ input: [UInt8]) -> [[UInt8]] {
    input.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).dropLast().map { Array($0) }
      .filter { $0.count <= Limits.workerLineLength }
  }

  private static func examine(_ line: [UInt8]) {
    let event = WorkerEvent(parsing: line)
    require(WorkerEvent(parsing: line + [ASCII.carriageReturn]) == event, "white space makes a difference")
    require(WorkerEvent(parsing: line + [UInt8(ascii: "x")]) == nil, "an event with something behind it")
    switch event?.kind {
    case .progress(let bytes, let total, let behindSeconds):
      require([bytes, total].allSatisfy { (0...Limits.fileSize).contains($0) }, "a size that no file has")
      require(behindSeconds ?? 0 >= 0, "a byte that has yet to be written")
    case .delivered(_, let size?): require((0...Limits.fileSize).contains(size), "a size that no file has")
    default: break
    }
  }

  /// Whatever a worker says, the watcher goes on, and what it did not end is not lost.
  private static func watch(_ events: [WorkerEvent]) {
    var machine = WatchMachine(.init(settleMilliseconds: 1, jobs: 16), seed: 1)
    for (index, path) in given.enumerated() {
      let identity = FileIdentity(
        device: 1, inode: 0, size: 5, modifiedSeconds: 0, modifiedNanoseconds: 0, edges: "")
      let seen = FileSighting(identity: identity, changed: StatusTime(seconds: 0, nanoseconds: 0))
      let file = WatchedFile(key: UInt64(index + 1), seen: seen, writers: .noWriter)
      for now: Int64 in [0, 1] { machine.noteInspection(path, .file(file), now: now) }
    }
    machine.workerStarted()
    // All of them, as if the worker had begun with each at once.
    for path in given {
      require(machine.give(path) != nil, "a recording that cannot be given")
    }
    for (index, event) in events.enumerated() { machine.handle(event, now: Int64(index + 2), unixSeconds: 0) }
    machine.workerEnded(.exited(0), now: Int64(events.count + 2), unixSeconds: 0)
    for notice in machine.takeNotices() {
      for isJournal in [false, true] {
        let line = Array(notice.logLine(inJournal: isJournal).utf8)
        require(line.last == ASCII.lineFeed, "a line without an end")
        require(!line.dropLast().contains { ASCII.isControl($0) }, "a control character in the log")
      }
    }
    let shown = machine.snapshot(destination: "", [], now: 0, unixSeconds: 0)
    require(shown.totals.deliveredCount <= 2, "more deliveries than recordings")
    require(shown.waitingCount >= 1 && shown.waitingCount <= 3, "a recording that nobody named is lost")
  }
}
