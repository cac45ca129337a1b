import CShims
import Uploader

/// `gighive-upload send FILE... [options]`
enum Send {
  /// Uploads the files.
  /// - Returns: the exit code of the first failure, or 0.
  static func run(_ arguments: SendArguments) throws(UsageError) -> Int32 {
    if let ceiling = arguments.memoryCeiling {
      guard MemoryCeiling.set(ceiling, isJSON: arguments.common.isJSON) else { return ExitCode.memoryCeiling }
    }
    let report = Report(arguments.common, progress: arguments.progress)
    guard DescriptorLimit.allows(jobs: arguments.usefulJobs, report) else {
      return ExitCode.memoryCeiling
    }
    let outcomes = OutcomeReporter(report)
    try deliver(arguments, report, outcomes, SignalCancellation.beginWithFinish())
    report.summarize()
    if arguments.common.isVerbose {
      Console.error("* peak memory (VmHWM) " + String(shim_peak_memory_kib()) + " KiB\n")
    }
    return outcomes.exitCode
  }

  /// Uploads the files of one command line, or says what would be uploaded.
  static func deliver(
    _ arguments: SendArguments, _ report: Report, _ outcomes: OutcomeReporter, _ cancellation: Cancellation
  ) throws(UsageError) {
    if case .move(let target)? = arguments.template.afterDelivery.removal, !Batch.isDirectory(target) {
      let label = arguments.options.last { $0.option == .after }?.label ?? "--after"
      let problem = label + ": " + PrintableText.line(target.text) + " is not a directory."
      // A watcher delivers nevertheless: its drive may come back.
      guard arguments.common.asksWatcher else { throw UsageError(problem) }
      report.warn(problem + " Recordings stay where they are until it is one.")
    }
    let configuration = try arguments.common.configuration(for: arguments.template, report)
    if configuration.stateDirectory == nil {
      let error = UploadError.state(.noDirectory)
      guard !arguments.needsState else {
        report.failed(error, exitCode: error.exitCode())
        return outcomes.keepExitCode(ExitCode.stateDirectory, of: report.fileCount)
      }
      report.warn(error.explanation)
    }
    if !arguments.isDryRun { arguments.common.recoverRemovals(report) }
    report.unprovedHost = arguments.target.scheme == .https ? nil : arguments.target.host
    let batch = try Batch(arguments, report, outcomes, cancellation)
    if arguments.isDryRun {
      DryRun.run(batch, Uploader(configuration), outcomes, report, cancellation)
    } else {
      let removals = DueRemovals(arguments, report) { batch.file(of: $0) }
      var observer = outcomes.observer(
        configuration, index: { batch.index(of: $0) }, isNamed: false, removals: removals)
      let onEnd = observer.onEnd
      observer.onEnd = {
        if case .success(.deliveredBefore(let previous)) = $1, previous.evidence == .comparable,
          batch.postpones($0, previous)
        {
          return
        }
        onEnd($0, $1)
        batch.end($0)
      }
      Uploader(configuration, jobs: arguments.usefulJobs).uploadAll(
        next: { batch.next() }, mayHaveNext: { batch.mayHaveNext }, cancellation: cancellation, observer: observer)
      if batch.hasComparisons {
        batch.beginComparisons()
        observer.onBegin = { _ in }
        Uploader(configuration).uploadAll(
          hasNext: { batch.hasComparisons }, next: { batch.nextComparison() }, cancellation: cancellation,
          observer: observer)
      }
      removals?.run(cancellation)
      deleteUndeleted(arguments.template, configuration, cancellation)
    }
    batch.endEarly()
  }

  /// At the end: nothing waits for it.
  private static func deleteUndeleted(
    _ request: UploadRequest, _ configuration: Configuration, _ cancellation: Cancellation
  ) {
    guard !cancellation.isCancelled, !cancellation.isFinishing, let path = configuration.stateDirectory,
      let directory = try? StateDirectory(existing: path, warn: { _ in }), !directory.undeleted.urls.isEmpty
    else { return }
    Uploader(configuration).deleteUndeleted(in: directory, as: request, cancellation: cancellation)
  }
}
