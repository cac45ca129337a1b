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
    guard DescriptorLimit.allows(jobs: min(arguments.jobs, arguments.files.count), report) else {
      return ExitCode.memoryCeiling
    }
    let exitCode = try deliver(arguments, report, SignalCancellation.begin())
    report.summarize()
    if arguments.common.isVerbose {
      Console.error("* peak memory (VmHWM) " + String(shim_peak_memory_kib()) + " KiB\n")
    }
    return exitCode
  }

  /// Uploads the files of one command line.
  private static func deliver(
    _ arguments: SendArguments, _ report: Report, _ cancellation: Cancellation
  ) throws(UsageError) -> Int32 {
    let configuration = try arguments.common.configuration(for: arguments.target, report)
    if configuration.stateDirectory == nil {
      let error = UploadError.state(.noDirectory)
      guard !arguments.needsState else {
        report.failed(error, exitCode: ExitCode.of(error, signal: 0))
        return ExitCode.stateDirectory
      }
      report.warn(error.explanation)
    }
    let files = arguments.files
    let outcomes = Outcomes(report)
    let observer = outcomes.observer(configuration, first: report.add(files), isNamed: false)
    Uploader(configuration, jobs: min(arguments.jobs, files.count)).upload(
      count: files.count, request: { arguments.request(for: files[$0]) }, cancellation: cancellation,
      observer: observer)
    return outcomes.exitCode
  }
}
