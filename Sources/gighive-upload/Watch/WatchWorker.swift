import CShims
import Uploader

/// A process of the same program that works for the watcher, and writes events: `send --from -`, which gets a line for each file, or
/// `clean`.
final class WatchWorker {
  private let process: Int32
  /// -1 once it is closed.
  private var input: Int32
  private var output: Int32
  private let answers: Int32
  private var lines = WorkerLines()
  /// What its input has not accepted yet.
  private var pending: [UInt8] = []
  private var closesInput = false
  /// The signal that has stopped it; 0 while it runs.
  private var stopSignal: Int32 = 0

  /// - Throws: the system's error.
  init(_ arguments: [[UInt8]]) throws(SystemError) {
    var toWorker: [Int32] = [-1, -1]
    var fromWorker: [Int32] = [-1, -1]
    var answering: [Int32] = [-1, -1]
    var result = shim_pipe(&toWorker)
    if result == 0 { result = shim_pipe(&fromWorker) }
    if result == 0 { result = shim_pipe(&answering) }
    if result == 0 { result = WatchWorker.spawn(arguments, toWorker[0], fromWorker[1], answering[0]) }
    let own = [toWorker[1], fromWorker[0], answering[1]]
    for descriptor in [toWorker[0], fromWorker[1], answering[0]] + (result < 0 ? own : []) where descriptor >= 0 {
      _ = shim_close(descriptor)
    }
    guard result > 0 else { throw SystemError(result: result) }
    process = result
    input = toWorker[1]
    output = fromWorker[0]
    answers = answering[1]
    shim_set_nonblocking(input)
    shim_set_nonblocking(output)
  }

  private static func spawn(
    _ arguments: [[UInt8]], _ input: Int32, _ output: Int32, _ answers: Int32
  ) -> Int32 {
    var text: [CChar] = []
    var starts: [Int] = []
    for argument in arguments {
      starts.append(text.count)
      text += argument.map { CChar(bitPattern: $0) } + [0]
    }
    return text.withUnsafeBufferPointer { text in
      let pointers = starts.map { text.baseAddress! + $0 } as [UnsafePointer<CChar>?] + [nil]
      return shim_spawn("/proc/self/exe", pointers, input, output, answers)
    }
  }

  var waits: [shim_poll_entry] {
    var entries: [shim_poll_entry] = []
    if output >= 0 { entries.append(shim_poll_entry(descriptor: output, events: Int32(SHIM_POLL_READABLE), ready: 0)) }
    if !pending.isEmpty, input >= 0 {
      entries.append(shim_poll_entry(descriptor: input, events: Int32(SHIM_POLL_WRITABLE), ready: 0))
    }
    return entries
  }

  /// - Parameter root: the watched directory that it is in.
  func give(_ file: [UInt8], below root: LocalPath, _ task: WatchMachine.Task) {
    var line = JSONWriter()
    line.add(file: LocalPath(bytes: file))
    line.add(file: root, as: "below")
    if let seen = task.seen { line.add("seen", seen.encoded()) }
    if task.isComparison { line.add("compare", true) }
    pending += Array(line.finished().utf8) + [ASCII.lineFeed]
    write()
  }

  func closeInput() {
    closesInput = true
    write()
  }

  private func write() {
    guard input >= 0 else { return }
    while !pending.isEmpty {
      let count = shim_write(input, pending, pending.count)
      // A worker that has ended is noticed at its output.
      guard count > 0 else { break }
      pending.removeFirst(Int(count))
    }
    if closesInput, pending.isEmpty {
      _ = shim_close(input)
      input = -1
    }
  }

  /// Reads and writes what is possible without waiting.
  /// - Parameters:
  ///   - mayRemove: asked before it removes a recording.
  ///   - event: called with each of its events.
  /// - Returns: how it ended; nil as long as it runs.
  func step(mayRemove: ([UInt8]) -> Bool, _ event: (WorkerEvent) -> Void) -> WatchMachine.WorkerEnd? {
    write()
    stopSignal = shim_stop_signal(process, stopSignal)
    var buffer = [UInt8](repeating: 0, count: 4096)
    while output >= 0 {
      let count = shim_read(output, &buffer, buffer.count)
      if count == Int64(-SHIM_EAGAIN) { break }
      if count <= 0 {
        _ = shim_close(output)
        output = -1
      } else {
        lines.add(buffer[..<Int(count)]) {
          guard let parsed = WorkerEvent(parsing: $0) else { return }
          if parsed.kind == .removing { answer(parsed.path.map(mayRemove) ?? false) } else { event(parsed) }
        }
      }
    }
    guard output < 0 else { return nil }
    let result = shim_reap(process)
    if result < 0 { return nil }
    if input >= 0 { _ = shim_close(input) }
    input = -1
    _ = shim_close(answers)
    return Int(result) >= SHIM_KILLED ? .killed(signal: result - Int32(SHIM_KILLED)) : .exited(result)
  }

  /// A byte, for which there is room: it asks one question at a time.
  private func answer(_ mayRemove: Bool) { _ = shim_write(answers, [mayRemove ? WatcherQuestion.yes : 0], 1) }

  /// Has it end where little is lost, and begin with nothing else.
  func finish() {
    pending = []
    closeInput()
    shim_signal(process, SHIM_FINISH)
  }

  /// - Parameter atOnce: with SIGKILL.
  func end(atOnce: Bool) { shim_signal(process, atOnce ? SHIM_KILL : SHIM_TERMINATE) }

  /// Its process, while a signal such as SIGSTOP has stopped that.
  var stopped: Int32? { stopSignal == 0 ? nil : process }

  /// Ends a stop.
  func proceed() { shim_signal(process, SHIM_CONTINUE) }
}
