import Uploader

/// `gighive-upload resume [ID... | --all] [options]`
enum Resume {
  /// Resumes uploads with the options in their records and those given now.
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    let isAll = options.contains { $0.option == .all }
    guard isAll != !operands.isEmpty else { throw UsageError("give upload IDs or --all.") }
    let filter = try DestinationFilter(options, isAll: isAll)
    let isStrict = options.contains { $0.option == .strict }
    guard isAll || !isStrict else { throw UsageError("--strict needs --all.") }
    let own = options.filter { !isOwn($0.option) }
    let ceiling = try own.last { $0.option == .maxMemory }?.size()
    if let ceiling, !MemoryCeiling.set(ceiling, isJSON: common.isJSON) { return ExitCode.memoryCeiling }

    let jobs = Int(try options.last { $0.option == .jobs }?.count(AllowedRanges.jobs) ?? 1)
    let progress = try own.last { $0.option == .progress }?.progressStyle() ?? .automatic
    let report = Report(common, progress: progress)
    guard DescriptorLimit.allows(jobs: jobs, report) else { return ExitCode.memoryCeiling }
    if isAll { report.nameFiles() }
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

  /// Whether the option is about the command, and not about one upload.
  private static func isOwn(_ option: Option) -> Bool {
    option.isDestination || option == .all || option == .strict || option == .jobs
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
      Uploader(configuration, jobs: jobs).upload(
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
