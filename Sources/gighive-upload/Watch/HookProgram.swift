import CShims
import Uploader

/// The program of `--on-event`: started for each notice, one at a time, without arguments and without a shell. Its information is in
/// its environment, which contains no secrets.
final class HookProgram {
  private struct Run {
    let process: Int32
    /// Readable when it ends; -1 if that can only be polled.
    let descriptor: Int32
    let kind: WatchNotice.Kind
    var deadline: HookDeadline
  }

  private let path: LocalPath
  private let warn: (String) -> Void
  private var queue = HookQueue()
  private var run: Run?
  private var isEnding = false

  /// - Parameter warn: called when the program fails.
  init(_ path: LocalPath, warn: @escaping (String) -> Void) {
    self.path = path
    self.warn = warn
  }

  deinit { if let run, run.descriptor >= 0 { _ = shim_close(run.descriptor) } }

  func tell(_ notice: WatchNotice) { queue.add(notice, unixMilliseconds: shim_unix_milliseconds()) }

  var isBusy: Bool { run != nil || queue.count > 0 }

  /// Readable when the program ends.
  var descriptor: Int32? { run.flatMap { $0.descriptor >= 0 ? $0.descriptor : nil } }

  /// When to step again (monotonic clock); nil if there is nothing to do.
  func due(now: Int64) -> Int64? {
    guard let run else { return queue.count > 0 ? now : nil }
    return run.descriptor >= 0 ? run.deadline.due : min(run.deadline.due, now + Limits.hookPollMilliseconds)
  }

  func step(now: Int64) {
    if let run { follow(run, now: now) }
    while run == nil, let entry = queue.next() { start(entry, now: now) }
    let dropped = queue.takeDroppedCount()
    if dropped > 0 { warn(name + " is too slow; events dropped: " + String(dropped) + ".") }
  }

  /// Drops what waits; the program that is running has to end.
  func end(now: Int64) {
    isEnding = true
    queue.abandon()
    run?.deadline.shorten(now: now)
    let dropped = queue.takeDroppedCount()
    if dropped > 0 { warn(name + " missed the last events: " + String(dropped) + ".") }
  }

  // MARK: One run

  private func start(_ entry: HookQueue.Entry, now: Int64) {
    var variables: [[UInt8]] = []
    for name in HookProgram.inherited {
      guard let value = environmentBytes(name) else { continue }
      variables.append(Array((name + "=").utf8) + value)
    }
    variables += entry.notice.environment(unixMilliseconds: entry.time)
    let block = variables.flatMap { $0 + [0] }.map { CChar(bitPattern: $0) }
    var descriptor: Int32 = -1
    let process = shim_start_program(path.cName, block, block.count, &descriptor)
    guard process > 0 else { return warn(name + " could not be started: " + SystemError(result: process).text + ".") }
    run = Run(
      process: process, descriptor: descriptor, kind: entry.notice.kind, deadline: HookDeadline(now: now))
  }

  private func follow(_ running: Run, now: Int64) {
    var code: Int32 = 0
    if shim_program_ended(running.process, &code) != 0 {
      if running.descriptor >= 0 { _ = shim_close(running.descriptor) }
      run = nil
      // What it has started may ignore SIGTERM.
      if running.deadline.isOver { shim_end_program(running.process, 1) }
      if code != 0, !running.deadline.isOver { warn(failure(running, code)) }
      return
    }
    switch run?.deadline.step(now: now) {
    case .terminate:
      shim_end_program(running.process, 0)
      if isEnding { break }
      let time = DurationText.seconds(Limits.hookMilliseconds)
      warn(name + " was stopped after " + time + " (" + running.kind.rawValue + ").")
    case .kill: shim_end_program(running.process, 1)
    case .nothing, nil: break
    }
  }

  private func failure(_ run: Run, _ code: Int32) -> String {
    name + " failed (" + run.kind.rawValue + "): "
      + (code > 128 ? "signal " + String(code - 128) : "exit code " + String(code)) + "."
  }

  private var name: String { "--on-event " + PrintableText.line(path.text) }

  /// What a shell script or curl needs of this process's environment.
  private static let inherited = ["PATH", "HOME", "LANG", "TZ"]
}

extension Limits {
  /// How often to check whether the program of `--on-event` has ended, where the kernel does not report it, in milliseconds.
  static let hookPollMilliseconds: Int64 = 1000
}
