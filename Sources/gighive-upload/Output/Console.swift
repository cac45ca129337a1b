import CShims
import Uploader

/// The standard streams. `print` would buffer, interleave with other output, and wait for a reader without a limit.
///
/// What a stream does not accept at once waits in its ``OutputQueue``. A command that only prints (`list`, help) waits for its
/// reader without a limit. One that works on uploads waits five seconds in total, and only when there is nothing else to do.
enum Console {
  static let isOutputTerminal = shim_is_terminal(1) != 0
  static let isErrorTerminal = shim_is_terminal(2) != 0

  /// The size of a stream's terminal, or the usual one if it is not known.
  static func terminalSize(of descriptor: Int32) -> (columns: Int, rows: Int) {
    var columns: Int32 = 0
    var rows: Int32 = 0
    shim_terminal_size(descriptor, &columns, &rows)
    return (columns > 0 ? Int(columns) : 80, rows > 0 ? Int(rows) : 24)
  }

  // Used on the main thread only.
  nonisolated(unsafe) private static let output = OutputStream(1)
  nonisolated(unsafe) private static let errors = OutputStream(2)
  private enum Patience {
    case endless
    /// Five seconds, not started yet.
    case brief
    /// Until this time (monotonic clock).
    case until(Int64)
  }
  nonisolated(unsafe) private static var patience = Patience.endless
  /// Whether outcomes of files are also written to standard error.
  nonisolated(unsafe) private static var writesOutcomesToErrors = true

  /// Creates the streams early, because later there may be no memory.
  static func open() { _ = (output, errors) }

  static func out(_ line: String, _ kind: OutputQueue.Kind = .result) { say(line + "\n", kind, to: output) }

  static func error(_ text: String, _ kind: OutputQueue.Kind = .message) { say(text, kind, to: errors) }

  /// From now on, a missing reader cannot block the program.
  static func waitBriefly() { patience = .brief }

  /// From now on, all outcomes are events on standard output, and unread messages on standard error do not stop new work from
  /// starting.
  static func writeOutcomesToOutput() { writesOutcomesToErrors = false }

  private static func say(_ text: String, _ kind: OutputQueue.Kind, to stream: OutputStream) {
    if stream.failure == nil, !stream.queue.hasRoom(for: text.utf8.count, kind), kind == .result || kind == .message {
      wait { stream.failure != nil || stream.queue.hasRoom(for: text.utf8.count, kind) }
    }
    stream.add(text, kind)
    write()
  }

  /// Writes what the streams accept at once; errors first, because they end the progress line.
  static func write() {
    _ = errors.write()
    if !output.write(), let failure = output.failure {
      error("gighive-upload: writing to standard output failed: " + failure.text + ".\n")
    }
  }

  /// The same when nothing can be allocated any more.
  static func writeLast() {
    _ = output.write()
    _ = errors.write()
  }

  /// Waits until new work may start or the work is cancelled.
  static func awaitAdmission(_ cancellation: Cancellation) {
    while !admitsWork, poll(cancellation, until: .max) { write() }
  }

  /// Waits until the output was read.
  /// - Returns: the exit code, which reports lost results if everything else succeeded.
  static func finish(_ exitCode: Int32) -> Int32 {
    wait { output.queue.isEmpty }
    let isUnread = output.isBlocked
    output.queue.abandon()
    let lost = output.queue.lostResultCount
    if lost > 0 {
      let reason = isUnread ? "standard output was not read; " : ""
      error("gighive-upload: " + reason + String(lost) + (lost == 1 ? " result was" : " results were") + " lost.\n")
    }
    if case .endless = patience { patience = .brief }
    wait { errors.queue.isEmpty }
    let hasFailed = output.failure != nil || lost > 0
    return hasFailed && exitCode == ExitCode.delivered ? ExitCode.outputFailed : exitCode
  }

  // MARK: Waiting

  private static func wait(until isEnough: () -> Bool) {
    while true {
      write()
      if isEnough() || !poll(nil, until: limit()) { return }
    }
  }

  /// Until when to wait for a reader.
  private static func limit() -> Int64 {
    switch patience {
    case .endless: return .max
    case .until(let time): return time
    case .brief:
      let time = shim_monotonic_milliseconds() + Limits.outputWaitMilliseconds
      patience = .until(time)
      return time
    }
  }

  /// - Returns: false if there is nothing to wait for, the time has passed, or the work was cancelled.
  private static func poll(_ cancellation: Cancellation?, until: Int64) -> Bool {
    let now = shim_monotonic_milliseconds()
    var entries = blocked.map { shim_poll_entry(descriptor: $0, events: Int32(SHIM_POLL_WRITABLE), ready: 0) }
    guard now < until, !entries.isEmpty else { return false }
    let last = entries.count
    entries.append(
      shim_poll_entry(descriptor: cancellation?.descriptor ?? -1, events: Int32(SHIM_POLL_READABLE), ready: 0))
    guard shim_poll(&entries, Int32(entries.count), until == .max ? -1 : until - now) == 0 else { return false }
    return entries[last].ready == 0
  }

  // MARK: During uploads

  static var blocked: [Int32] { [output, errors].filter { $0.isBlocked }.map { $0.descriptor } }
  static var admitsWork: Bool {
    output.queue.admitsWork && (errors.queue.admitsWork || !writesOutcomesToErrors)
  }
}

/// Writes output during uploads, and lets no further one start while the results of others are not read.
final class ConsoleOutput: CallerOutput {
  /// The time limit of an upload (`--max-time`), which includes waiting to start; nil if there is no limit.
  private let limitMilliseconds: Int64?
  /// Since when the output was not read; nil if it is being read. Shared, because uploads resumed one after the other wait for
  /// the same reader.
  nonisolated(unsafe) private static var heldSince: Int64?

  init(limitMilliseconds: Int64?) { self.limitMilliseconds = limitMilliseconds }

  var blocked: [Int32] { Console.blocked }

  func write() { Console.write() }

  func admission(nowMilliseconds now: Int64) -> UploadAdmission {
    if Console.admitsWork {
      ConsoleOutput.heldSince = nil
      return .open
    }
    let since = ConsoleOutput.heldSince ?? now
    ConsoleOutput.heldSince = since
    guard let limitMilliseconds else { return .held(untilMilliseconds: .max) }
    let until = since + limitMilliseconds
    return now < until ? .held(untilMilliseconds: until) : .closed
  }
}

/// One of the standard streams, with its queued output.
final class OutputStream {
  let descriptor: Int32
  let queue = OutputQueue(capacity: Limits.outputCapacity)
  /// The error after which nothing more is written.
  private(set) var failure: SystemError?

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  var isBlocked: Bool { !queue.isEmpty }

  /// Writes what the stream accepts at once. Allocates nothing.
  /// - Returns: false if it has just failed.
  func write() -> Bool {
    while !queue.isEmpty {
      let rest = queue.next
      let count = shim_write_some(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        queue.take(Int(count))
      } else if count == Int64(-SHIM_EAGAIN) {
        return true
      } else {
        failure = SystemError(result: count)
        queue.abandon()
        return false
      }
    }
    return true
  }

  /// Queues text. Output to a failed stream is lost.
  func add(_ text: String, _ kind: OutputQueue.Kind) {
    var text = text
    text.withUTF8 { queue.add(UnsafeRawBufferPointer($0), kind) }
    if failure != nil { queue.abandon() }
  }
}

extension Limits {
  /// The buffer for unread output, per stream, in bytes. Half of it is for the results of uploads in progress: sixteen lines of
  /// 2 KB.
  static let outputCapacity = 64 << 10
  /// How long the program waits for readers of its output when it ends, in milliseconds.
  static let outputWaitMilliseconds: Int64 = 5000
}

extension Limits {
}
