import CShims
import Uploader

/// Monitoring of a watcher: its log, `status`, metrics, the service manager and the program of `--on-event`. None of them can
/// block the watcher or make it fail.
final class WatchOutputs {
  private let log: WatchLog
  private let statusFile: StatusFile?
  private let metricsFile: AtomicFile?
  private let hookProgram: HookProgram?
  private var serviceManager = ServiceManager()
  private var snapshot: WatchSnapshot?
  private var throttle = WriteThrottle()
  private var failingFiles: [LocalPath] = []

  /// - Parameter stateDirectory: nil without one; then `status` cannot see the watcher.
  init(_ options: [GivenOption], stateDirectory: LocalPath?) throws(UsageError) {
    let log = WatchLog(isQuiet: options.has(.quiet))
    self.log = log
    statusFile = stateDirectory.map { StatusFile(stateDirectory: $0) }
    metricsFile = try options.last { $0.option == .metrics }?.metricsFile()
    let program = try options.last { $0.option == .onEvent }?.program()
    hookProgram = program.map { HookProgram($0) { log.tell(WatchNotice(.warning, $0, .warning)) } }
    // A log without a reader must not hold up uploads.
    Console.waitBriefly()
  }

  var hasServiceManager: Bool { serviceManager.isThere }

  /// Shows the snapshot soon: files are written at most every ``Limits/watchStatusMilliseconds``.
  func changed(_ snapshot: WatchSnapshot, now: Int64) {
    guard snapshot != self.snapshot else { return }
    self.snapshot = snapshot
    throttle.noteChange()
    step(now: now)
  }

  func tell(_ notice: WatchNotice) {
    log.tell(notice)
    hookProgram?.tell(notice)
    if notice.kind == .started { serviceManager.ready() }
  }

  /// Does what is due. Called whenever ``wait`` says so.
  func step(now: Int64) {
    Console.write()
    serviceManager.step(now: now)
    if let snapshot, throttle.isDue(now: now) { show(snapshot) }
    hookProgram?.step(now: now)
  }

  /// Descriptors that become readable, and the time (monotonic clock; nil for none) when ``step(now:)`` has something to do.
  var wait: (descriptors: [Int32], until: Int64?) {
    let now = shim_monotonic_milliseconds()
    let console = Console.blocked.isEmpty ? nil : now + Limits.watchLogMilliseconds
    let times = [serviceManager.due, throttle.due, hookProgram?.due(now: now), console].compactMap { $0 }
    return (hookProgram?.descriptor.map { [$0] } ?? [], times.min())
  }

  /// The configuration is being read again; this has ended at the next step.
  func reloading() { serviceManager.reloading() }

  /// The watcher has begun to stop.
  func stopping() { serviceManager.stopping() }

  /// The watcher has stopped. The program of `--on-event` has to end, too.
  func ended() {
    if let hookProgram { end(hookProgram) }
    statusFile?.remove()
    metricsFile?.remove()
  }

  private func end(_ program: HookProgram) {
    let limit = shim_monotonic_milliseconds() + Limits.hookEndMilliseconds
    // One that cannot be killed waits for a disk that has failed.
    let last = limit + 2 * Limits.hookEndGraceMilliseconds
    var isEnding = false
    while true {
      let now = shim_monotonic_milliseconds()
      if now >= limit, !isEnding {
        isEnding = true
        program.end(now: now)
      }
      program.step(now: now)
      guard program.isBusy, now < last else { break }
      var entry = shim_poll_entry(descriptor: program.descriptor ?? -1, events: Int32(SHIM_POLL_READABLE), ready: 0)
      let until = min(isEnding ? last : limit, program.due(now: now) ?? last)
      _ = shim_poll(&entry, 1, max(0, until - now))
    }
    if !isEnding { program.end(now: shim_monotonic_milliseconds()) }
  }

  // MARK: Files

  private func show(_ snapshot: WatchSnapshot) {
    serviceManager.show(snapshot)
    if let statusFile {
      let text = snapshot.json(process: shim_process_id(), nowUnixMilliseconds: shim_unix_milliseconds())
      write(to: statusFile.path) { () throws(SystemError) in try statusFile.write(text + "\n") }
    }
    if let metricsFile {
      write(to: metricsFile.path) { () throws(SystemError) in try metricsFile.replace(snapshot.metrics) }
    }
  }

  /// Reports once that a file cannot be written.
  private func write(to path: LocalPath, _ write: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try write()
      failingFiles.removeAll { $0 == path }
    } catch {
      if failingFiles.contains(path) { return }
      failingFiles.append(path)
      let message = PrintableText.line(path.text) + " cannot be written: " + error.text + "."
      log.tell(WatchNotice(.warning, message, .warning))
    }
  }
}

extension GivenOption {
  fileprivate func metricsFile() throws(UsageError) -> AtomicFile {
    // The node exporter reads only such names, and must not read a file that is being written.
    guard argument.bytes.suffix(5).elementsEqual(".prom".utf8), argument.lastComponentBytes.count > 5 else {
      throw invalid("the name of a file that ends in .prom")
    }
    return AtomicFile(path: argument.absolute ?? argument, isForAll: true)
  }

  fileprivate func program() throws(UsageError) -> LocalPath {
    let path = argument.absolute ?? argument
    let result = path.cString.map { shim_can_execute($0) } ?? -SHIM_EINVAL
    guard result == 0 else {
      throw UsageError(label + ": " + PrintableText.line(path.text) + ": " + SystemError(result: result).text + ".")
    }
    return path
  }
}

/// Notices on standard error. In the journal each line has its priority.
struct WatchLog {
  private let isQuiet: Bool
  private let isJournal = WatchLog.isErrorJournal

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  /// Never waits: a line that is not read is lost.
  func tell(_ notice: WatchNotice) {
    if isQuiet, notice.priority == .information { return }
    Console.error(notice.logLine(inJournal: isJournal), .remark)
  }

  /// Whether standard error is what systemd connected to the journal (systemd.exec(5), $JOURNAL_STREAM).
  private static var isErrorJournal: Bool {
    guard let stream = environment("JOURNAL_STREAM"), let status = shim_file_status(of: 2) else { return false }
    return stream == String(status.device) + ":" + String(status.inode)
  }
}

extension Limits {
  /// How often unread lines of the log are offered again, in milliseconds.
  static let watchLogMilliseconds: Int64 = 1000
}
