import CShims
import Uploader

/// `gighive-upload resume [ID... | --all] [options]`
enum Resume {
  /// Resumes uploads with the options in their records and those given now.
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    let isAll = options.has(.all)
    guard isAll != !operands.isEmpty else { throw UsageError("give upload IDs or --all.") }
    let filter = try DestinationFilter(options, isAll: isAll)
    let isStrict = options.has(.strict)
    guard isAll || !isStrict else { throw UsageError("--strict needs --all.") }
    // A destination chooses uploads.
    let own = options.filter { !$0.option.has(.destination) }
    let ceiling = try own.last { $0.option == .maxMemory }?.size()
    if let ceiling, !MemoryCeiling.set(ceiling, isJSON: common.isJSON) { return ExitCode.memoryCeiling }

    let jobs = Int(try options.last { $0.option == .jobs }?.count(AllowedRanges.jobs) ?? 1)
    let progress = try own.last { $0.option == .progress }?.progressStyle() ?? .automatic
    let report = Report(common, progress: progress)
    guard DescriptorLimit.allows(jobs: jobs, report) else { return ExitCode.memoryCeiling }
    if isAll { report.namesFiles = true }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    common.recoverRemovals(report)
    let queue: ResumeQueue
    var count = 0
    do throws(StateError) {
      if isAll {
        count = try records.directory.openCount()
        let skipped = SkippedUploads(records.directory, report, isStrict: isStrict, isVerbose: common.isVerbose)
        queue = ResumeQueue(all: records.directory.walk(.open), filter, skipped, with: own)
      } else {
        let named = try records.named(operands)
        count = named.count
        queue = ResumeQueue(named, with: own)
      }
    } catch { return Records.fail(error, report) }

    let outcomes = OutcomeReporter(report)
    resume(queue, jobs: max(1, min(jobs, count)), outcomes, report)
    if let failure = queue.failure { return Records.fail(failure, report) }
    if let text = queue.skipped?.text {
      report.say(text)
    } else if report.fileCount == 0 {
      report.say("nothing to resume in " + report.stateName + ".")
    }
    report.summarize()
    return outcomes.exitCode
  }

  /// Resumes uploads in their order. Those in a row that share a configuration share an ``Uploader``.
  private static func resume(_ queue: ResumeQueue, jobs: Int, _ outcomes: OutcomeReporter, _ report: Report) {
    let cancellation = SignalCancellation.begin()
    while let first = queue.peek() {
      let arguments: SendArguments
      let configuration: Configuration
      do throws(UsageError) {
        arguments = try first.arguments()
        configuration = try arguments.common.configuration(for: arguments.template, report)
      } catch {
        // An upload that lacks something, such as its password, does not stop the others.
        let index = report.add(BatchFile(path: first.file))
        report.recorded(index, recordID: first.id)
        report.failed(index, first.id + ": " + error.message, exitCode: ExitCode.usage, .file)
        outcomes.keepExitCode(ExitCode.usage, of: index)
        _ = queue.next()
        continue
      }
      func isNext() -> Bool {
        guard let next = queue.peek() else { return false }
        return next.sharesConfiguration(with: first)
      }
      let firstIndex = report.fileCount
      let observer = outcomes.observer(
        configuration, index: { firstIndex + $0 }, isNamed: true, skipped: queue.skipped)
      Uploader(configuration, jobs: jobs).uploadAll(
        hasNext: isNext,
        next: {
          guard isNext(), let next = queue.next(), let arguments = try? next.arguments(),
            let request = try? arguments.request(for: BatchFile(path: next.file))
          else { return nil }
          report.recorded(report.add(BatchFile(path: next.file)), recordID: next.id)
          return request
        }, cancellation: cancellation, observer: observer)
    }
  }
}

/// The uploads to resume, in order. Only the next one is held.
final class ResumeQueue {
  final class Upload {
    let id: String
    let file: LocalPath
    /// Indirect, because copies of something so large take much code.
    private indirect enum Made {
      case arguments(SendArguments)
      case failure(UsageError)
    }
    private let made: Made

    fileprivate init(_ record: UploadRecord, isNamed: Bool, with options: [GivenOption]) {
      id = record.id
      file = record.file.path
      do throws(UsageError) {
        var arguments = try SendArguments(
          options: StoredOptions.options(in: record.note, with: options), files: Operands([file]), recordID: record.id,
          note: StoredOptions.text(of: record.note, with: options))
        // Between now and its turn, another process may send it.
        arguments.template.isChosen = isNamed
        do throws(UnsendableFile) { _ = try arguments.request(for: BatchFile(path: file)) } catch {
          throw UsageError(error.message)
        }
        made = .arguments(arguments)
      } catch { made = .failure(error) }
    }

    func arguments() throws(UsageError) -> SendArguments {
      switch made {
      case .arguments(let arguments): return arguments
      case .failure(let error): throw error
      }
    }

    /// Whether both can be sent by one ``Uploader``.
    func sharesConfiguration(with other: Upload) -> Bool {
      guard case .arguments(let one) = made, case .arguments(let another) = other.made else { return false }
      return one.sharesConfiguration(with: another)
    }
  }

  /// nil if the uploads were named.
  let skipped: SkippedUploads?
  /// Why there are no more; nil if all of them were read.
  private(set) var failure: StateError?
  private enum Source {
    /// In reverse order.
    case named([UploadRecord])
    case walk(RecordWalk)
    case exhausted
  }
  private var source: Source
  private let filter: DestinationFilter?
  private let options: [GivenOption]
  private var ahead: Upload?

  /// - Parameter options: those given now.
  init(_ records: [UploadRecord], with options: [GivenOption]) {
    source = .named(records.reversed())
    filter = nil
    skipped = nil
    self.options = options
  }

  init(all walk: RecordWalk, _ filter: DestinationFilter?, _ skipped: SkippedUploads, with options: [GivenOption]) {
    source = .walk(walk)
    self.filter = filter
    self.skipped = skipped
    self.options = options
  }

  /// The next upload, which stays the next one.
  func peek() -> Upload? {
    if ahead == nil { ahead = read().map { Upload($0, isNamed: skipped == nil, with: options) } }
    return ahead
  }

  func next() -> Upload? {
    defer { ahead = nil }
    return peek()
  }

  private func read() -> UploadRecord? {
    switch source {
    case .exhausted: break
    case .named(var records):
      let record = records.popLast()
      source = .named(records)
      if let record { return record }
    case .walk(let walk):
      do throws(StateError) {
        while let record = try walk.next() { if isChosen(record) { return record } }
      } catch { failure = error }
    }
    source = .exhausted
    return nil
  }

  private func isChosen(_ record: UploadRecord) -> Bool {
    if let filter, !filter.includes(record) { return false }
    return !(skipped?.take(record) ?? false)
  }
}

/// The uploads that `resume --all` skips, because they may already be stored, their files are missing, it is too early to retry, or another
/// process is working on them. They are neither started nor failed.
final class SkippedUploads {
  private let directory: StateDirectory
  private let report: Report
  /// Whether uploads that another process is working on are errors instead.
  let isStrict: Bool
  private let isVerbose: Bool
  private var mayBeStoredCount = 0
  private var goneCount = 0
  private var waitingCount = 0
  private var postponedCount = 0
  private var busyCount = 0

  init(_ directory: StateDirectory, _ report: Report, isStrict: Bool, isVerbose: Bool) {
    self.directory = directory
    self.report = report
    self.isStrict = isStrict
    self.isVerbose = isVerbose
  }

  /// Counts the upload if it cannot be resumed now.
  /// - Returns: whether it is skipped.
  func take(_ record: UploadRecord) -> Bool {
    // It is sent again only when its ID is given. The record of a form says so while the form is being sent, too.
    if record.mayBeStored {
      guard directory.isLocked(record.id) else {
        noteMayBeStored()
        return true
      }
      if isStrict { return false }
      noteBusy(record.id)
      return true
    }
    switch record.locateFile() {
    case .gone: goneCount += 1
    case .waitingForMedium: waitingCount += 1
    // If a file cannot be examined, the reason is reported when it is opened.
    case .present, .unknown:
      if record.postponedUntil(now: shim_unix_seconds()) != nil {
        postponedCount += 1
      } else if !isStrict, directory.isLocked(record.id) {
        noteBusy(record.id)
      } else {
        return false
      }
    }
    return true
  }

  /// Counts an upload that is sent again only when its ID is given.
  func noteMayBeStored() { mayBeStoredCount += 1 }

  /// Counts an upload that another process is working on.
  func noteBusy(_ id: String) {
    busyCount += 1
    if isVerbose { report.diagnose("* " + id + ": another process is working on it; skipped.") }
  }

  /// One line; nil if there were none.
  var text: String? {
    let parts = [
      (mayBeStoredCount, "that may already be stored (see gighive-upload list)"),
      (goneCount, "whose file is gone"), (waitingCount, "whose file is waiting for its drive"),
      (postponedCount, "to be retried later"),
      (busyCount, "in progress in another process"),
    ].filter { $0.0 > 0 }
    if parts.isEmpty { return nil }
    return "skipped: " + parts.map { String($0.0) + " " + $0.1 }.joined(separator: ", ") + "."
  }
}
