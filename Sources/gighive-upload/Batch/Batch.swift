import CShims
import Uploader

/// The files of one command, one after the other: those that are named, and those in named directories.
final class Batch {
  private let arguments: SendArguments
  private let report: Report
  private let outcomes: OutcomeReporter
  private let cancellation: Cancellation
  private let list: FileList?
  private let sidecars = SidecarSearch()
  private var position = 0
  private var walk: DirectoryWalk?
  /// The files in it that were left for a later run.
  private var unsettledCount = 0
  /// Files that have not ended. Their requests have been numbered in order.
  private var open: [(request: Int, report: Int, file: BatchFile)] = []
  private var requestCount = 0
  /// Delivered files that may have been changed since. Their content is compared once nothing is left to send.
  private var comparisons: [(report: Int, file: BatchFile)] = []

  init(_ arguments: SendArguments, _ report: Report, _ outcomes: OutcomeReporter, _ cancellation: Cancellation)
    throws(UsageError)
  {
    self.arguments = arguments
    self.report = report
    self.outcomes = outcomes
    self.cancellation = cancellation
    if let path = arguments.list { list = try FileList(path) } else { list = nil }
    if arguments.hasSeveral { report.hasSeveral = true }
  }

  /// The request for the next file. A file that cannot have one is reported.
  func next() -> UploadRequest? {
    while let file = nextFile() {
      if let request = request(for: file, report.add(file)) { return request }
    }
    return nil
  }

  func nextComparison() -> UploadRequest? {
    while let (index, file) = comparisons.popLast() {
      if let request = request(for: file, index) { return request }
    }
    return nil
  }

  private func request(for file: BatchFile, _ index: Int) -> UploadRequest? {
    do throws(UnsendableFile) {
      // A list may be written while it is read, and so may the sidecars of its files.
      let mayHaveSidecar = list != nil || sidecars.mayFind(beside: file.path)
      let request = try arguments.request(for: file, mayHaveSidecar: mayHaveSidecar)
      open.append((requestCount, index, file))
      requestCount += 1
      return request
    } catch {
      switch error {
      case .undescribed(let message, let exitCode, let again):
        report.failed(index, message, exitCode: exitCode, .file, again)
        outcomes.keepExitCode(exitCode, of: index)
      case .absent(let file, let error): outcomes.fail(index, .file(file, error))
      }
      return nil
    }
  }

  var mayHaveNext: Bool { list.map { !$0.hasEnded } ?? (walk != nil || position < arguments.files.count) }

  func index(of request: Int) -> Int { open[position(of: request)].report }

  func file(of request: Int) -> BatchFile { open[position(of: request)].file }

  var hasComparisons: Bool { !comparisons.isEmpty }

  /// Call it once, before ``nextComparison()``. Requests are numbered from 0 again.
  func beginComparisons() {
    requestCount = 0
    comparisons.reverse()
  }

  /// A delivered file may have been changed since. It is compared when nothing is left to send, by whoever wrote the list or by
  /// ``nextComparison()``.
  /// - Returns: false if there are too many.
  func postpones(_ request: Int, _ previous: PreviousDelivery) -> Bool {
    var (_, index, file) = open[position(of: request)]
    if list != nil, file.judged != nil || file.isFound {
      report.comparisonDue(index, previous)
    } else {
      guard comparisons.count < Limits.comparisonCount else { return false }
      file.isCompared = true
      comparisons.append((index, file))
    }
    end(request)
    return true
  }

  func end(_ request: Int) { open.remove(at: position(of: request)) }

  private func position(of request: Int) -> Int {
    guard let position = open.firstIndex(where: { $0.request == request }) else {
      preconditionFailure("a request that has ended")
    }
    return position
  }

  /// Reports what was not started because the work ended early. Files in directories have not been found yet.
  func endEarly() {
    if let list, cancellation.isCancelled, !list.hasEnded {
      fail(
        list.name + ": interrupted after line " + String(list.lineNumber) + "; the rest was not read.",
        ExitCode.interruptedBase + shim_signal_received())
    }
    if let walk { interrupt(walk.root) }
    walk = nil
    while position < arguments.files.count {
      let path = arguments.files[position]
      position += 1
      if arguments.isRecursive, Batch.isDirectory(path) {
        interrupt(path)
      } else {
        outcomes.fail(report.add(BatchFile(path: path)), .cancelled(hasSentAll: false))
      }
    }
  }

  private func interrupt(_ directory: LocalPath) {
    let signal = SignalCancellation.received
    let code = signal == 0 ? ExitCode.outputFailed : ExitCode.interruptedBase + signal
    let reason = signal == 0 ? "the output was not read within --max-time." : "interrupted."
    fail(directory, "was not sent completely: " + reason, code)
  }

  // MARK: Files

  private func nextFile() -> BatchFile? {
    if let list { return nextListed(list) }
    while true {
      if let file = nextFound() { return file }
      guard position < arguments.files.count else { return nil }
      let path = arguments.files[position]
      position += 1
      guard arguments.isRecursive, Batch.isDirectory(path) else { return BatchFile(path: path) }
      walk = DirectoryWalk(path, arguments.selection)
    }
  }

  /// The next file of the directory that is being walked through; nil if there is none.
  private func nextFound() -> BatchFile? {
    guard let walk else { return nil }
    while let item = walk.next() {
      switch item {
      case .file(let path):
        guard isWanted(path), !walk.mayBeUnfinished || !isUnfinished(path) else { continue }
        var file = BatchFile(path: path, foundBelow: walk.root)
        guard let settle = arguments.settleMilliseconds else { return file }
        guard let seen = SettledFile.sighting(of: path, below: walk.root, for: settle) else {
          leaveOut(path, "it is empty, or not finished yet")
          if shim_file_status(at: path).map({ $0.size > 0 }) ?? false { unsettledCount += 1 }
          continue
        }
        file.judged = seen
        return file
      case .failure(let path, let problem): fail(path, problem + ".", ExitCode.inputFile)
      }
    }
    self.walk = nil
    if unsettledCount > 0 {
      let files = unsettledCount == 1 ? "1 file is" : String(unsettledCount) + " files are"
      report.say(PrintableText.line(walk.root.text) + ": " + files + " not finished yet, and left.")
      unsettledCount = 0
    }
    if walk.itemCount == 0, arguments.settleMilliseconds == nil {
      report.say(PrintableText.line(walk.root.text) + " " + noMatch)
    }
    return nil
  }

  private func isUnfinished(_ path: LocalPath) -> Bool {
    guard let mark = UnfinishedMark.beside(path) else { return false }
    leaveOut(path, "it is unfinished: " + PrintableText.line(mark.lastComponent) + " is beside it")
    return true
  }

  private func leaveOut(_ path: LocalPath, _ reason: String) {
    if arguments.common.isVerbose {
      report.diagnose(PrintableText.line(path.text) + ": left out, because " + reason + ".")
    }
  }

  /// Whether the file is neither too small nor to be left alone. If it cannot be examined, that is reported later.
  private func isWanted(_ path: LocalPath) -> Bool {
    guard arguments.minimumSize != nil || arguments.existing != nil, let status = shim_file_status(at: path) else {
      return true
    }
    return status.size >= arguments.minimumSize ?? 0 && !(arguments.existing?.contains(path, status) ?? false)
  }

  /// The next file of the list; nil at its end, or while another upload is in progress and there is no further line yet.
  private func nextListed(_ list: FileList) -> BatchFile? {
    while true {
      switch list.next(mayWait: open.isEmpty, cancellation) {
      case .notYet, .end: return nil
      case .failed(let error): fail(list.name + ": " + error.text + ".", ExitCode.inputFile)
      case .tooLong:
        fail(place(list) + ListLineError.tooLong(limit: Limits.listLineLength).message, ExitCode.usage)
      case .text(let line):
        if line.allSatisfy({ $0 == ASCII.space || $0 == ASCII.tab || $0 == ASCII.carriageReturn }) { continue }
        if let file = listed(line, place(list)) { return file }
      }
    }
  }

  private func listed(_ line: [UInt8], _ place: String) -> BatchFile? {
    do throws(ListLineError) {
      let line = try ListLine(parsing: line)
      do throws(UsageError) {
        return BatchFile(
          path: LocalPath(bytes: line.file), foundBelow: line.foundBelow.map { LocalPath(bytes: $0) },
          judged: line.seen, isCompared: line.isCompared, options: try line.given(place))
      } catch { fail(error.message, ExitCode.usage) }
    } catch { fail(place + error.message, ExitCode.usage) }
    return nil
  }

  private func place(_ list: FileList) -> String { list.name + ":" + String(list.lineNumber) + ": " }

  /// Reports what concerns no file.
  private func fail(_ message: String, _ code: Int32) {
    report.failed(message, exitCode: code)
    outcomes.keepExitCode(code, of: report.fileCount)
  }

  static func isDirectory(_ path: LocalPath) -> Bool { shim_file_status(at: path)?.isDirectory ?? false }

  /// Reports a directory.
  /// - Parameter problem: what follows its name.
  private func fail(_ directory: LocalPath, _ problem: String, _ code: Int32) {
    report.failed(directory, PrintableText.line(directory.text) + " " + problem, exitCode: code)
    outcomes.keepExitCode(code, of: report.fileCount)
  }

  private var noMatch: String {
    if !arguments.patterns.isEmpty {
      return "has no file that matches "
        + arguments.patterns.map { PrintableText.line($0.text) }.joined(separator: " or ") + "."
    }
    return arguments.isForGigHive
      ? "has no recording; use --match to select other files."
      : "has no file to send; hidden and temporary files are skipped."
  }
}

/// `watch --once`: which files are finished at this moment.
enum SettledFile {
  /// What a file is, if nobody writes to it and it has not changed for this long; else nil. A time as far ahead is that of a wrong clock, and
  /// counts as well if writers can be detected; otherwise somebody with such a clock may be writing it.
  static func sighting(of file: LocalPath, below root: LocalPath, for milliseconds: Int64) -> FileSighting? {
    guard let directory = try? OpenDirectory(file.directory, below: root) else { return nil }
    let descriptor = directory.open(file.name)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    guard let status = shim_file_status(of: descriptor), status.isRegular, status.size > 0 else { return nil }
    let kind = FileSystem.kind(type: shim_file_system_type(descriptor))
    // Where status times are reliable, a wrong clock in a camera does not matter.
    let changed = kind == .stable ? status.changed_seconds : max(status.modified_seconds, status.changed_seconds)
    var age = shim_unix_seconds() - changed
    var wanted = milliseconds
    switch FileWriters(of: descriptor) {
    case .noWriter: age = abs(age)
    case .undetectable: wanted = max(wanted, Limits.watchBlindSettleMilliseconds)
    case .writer, .notNow: return nil
    }
    // In whole seconds, of which both times were rounded down.
    guard age > (wanted - 1) / 1000 + 1 else { return nil }
    return FileSighting(status, on: kind)
  }
}

/// A file to send, and where it came from.
struct BatchFile {
  let path: LocalPath
  /// The directory in which it was found, by this program or by the one that writes the list; nil if it was named.
  var foundBelow: LocalPath?
  /// What a watcher has judged to be finished: only this is sent.
  var judged: FileSighting?
  /// Whether its content is compared if it was delivered and may have been changed since, now that nothing else is to be sent.
  var isCompared = false
  /// What a list says about it.
  var options: [GivenOption] = []

  var isFound: Bool { foundBelow != nil }
}

/// Why a file is refused before anything is sent.
enum UnsendableFile: Error {
  /// What describes it has an error, or cannot be read. The message has the name of the file.
  case undescribed(message: String, exitCode: Int32, again: Reattempt)
  /// The file itself is not there, or cannot be examined.
  case absent(LocalPath, FileError)

  /// The description of the file has an error.
  init(_ file: LocalPath, _ error: UsageError) {
    self = .undescribed(
      message: PrintableText.line(file.lastComponent) + ": " + error.message, exitCode: ExitCode.usage, again: .rarely)
  }

  /// A file beside it cannot be read.
  init(_ file: LocalPath, _ other: String, _ error: SystemError) {
    self = .undescribed(
      message: PrintableText.line(file.lastComponent) + ": " + other + " cannot be read: " + error.text + ".",
      exitCode: ExitCode.inputFile, again: .soon)
  }

  var message: String {
    switch self {
    case .undescribed(let message, _, _): message
    case .absent(let file, let error): UploadError.file(file, error).message
    }
  }
}

/// Recordings that an earlier run delivered but could not remove at that moment, and that this run has found again.
final class DueRemovals {
  private let arguments: SendArguments
  private let removal: AfterDelivery.Removal
  private let records: Records
  private let report: Report
  private let file: (Int) -> BatchFile
  private var due: [(recordID: String, file: BatchFile)] = []

  /// - Parameter file: that of a request.
  /// - Returns: nil if nothing is to be removed.
  init?(_ arguments: SendArguments, _ report: Report, file: @escaping (Int) -> BatchFile) {
    guard let removal = arguments.template.afterDelivery.removal, !arguments.isDryRun,
      let records = Records(arguments.common, report)
    else { return nil }
    self.arguments = arguments
    self.removal = removal
    self.records = records
    self.report = report
    self.file = file
  }

  /// A file was skipped, because this upload has delivered it.
  /// - Returns: whether its removal is due.
  func keepIfDue(_ recordID: String, of request: Int) -> Bool {
    guard records.directory.isRemovalDue(recordID) else { return false }
    let file = file(request)
    if due.count < Limits.dueRemovalCount { due.append((recordID, file)) }
    return true
  }

  /// Retries the removals. This is done when nothing is uploaded, because it may have to read whole files.
  func run(_ cancellation: Cancellation) {
    let remover = Remover(
      removal, arguments.template.afterDelivery, arguments.options, records, report, cancellation)
    for (recordID, file) in due where !cancellation.isCancelled && !cancellation.isFinishing {
      do throws(StateError) {
        guard let record = try records.directory.current(recordID),
          let reason = try remover.remove(record, at: file.path, below: file.foundBelow, askedAs: file.path)
        else { continue }
        if reason.endsRemoval { records.directory.clearRemovalDue(recordID) }
      } catch { report.warn(UploadError.state(error).explanation) }
    }
    due = []
  }
}

extension Limits {
  /// Delivered files that a command compares at its end, because they may have been changed since.
  static let comparisonCount = 1000
  /// Postponed removals that one `send` retries at its end; more of them wait for the next one.
  static let dueRemovalCount = 1024
}
