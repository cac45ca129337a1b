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
  static func deliver(
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
    let first = report.add(files)
    let outcome = Outcome()
    var observer = UploadObserver()
    observer.onBegin = { report.begin(first + $0) }
    observer.onRecord = { report.recorded(first + $0, upload: $1) }
    observer.onProgress = { report.progress(first + $0, $1) }
    observer.onAnswer = { report.answered(first + $0, $1) }
    observer.onRetry = { report.retrying(first + $0, $1, of: configuration.retryLimit) }
    observer.outlet = ConsoleOutlet(limitMilliseconds: configuration.timeouts.totalMilliseconds)
    observer.onEnd = { index, result in
      switch result {
      case .success(let delivery): report.delivered(first + index, delivery)
      case .failure(.delivered(let previous)): report.skipped(first + index, previous, isNamed: arguments.upload != nil)
      case .failure(.cancelled) where shim_signal_received() == 0:
        // Without a signal, only the loop cancels: it started no further file because the output was not read.
        report.failed(first + index, unread(arguments.files[index]), exitCode: ExitCode.outputFailed)
        outcome.note(ExitCode.outputFailed, of: index)
      case .failure(let error):
        let code = ExitCode.of(error, signal: shim_signal_received())
        report.failed(first + index, error, exitCode: code)
        outcome.note(code, of: index)
      }
    }
    Uploader(configuration, jobs: min(arguments.jobs, files.count)).upload(
      count: files.count, request: { arguments.request(for: files[$0]) }, cancellation: cancellation,
      observer: observer)
    return outcome.exitCode
  }

  private static func unread(_ file: LocalPath) -> String {
    PrintableText.line(file.lastComponent)
      + ": not started, because the output was not read within --max-time; nothing was sent."
  }

  /// The exit code of several files: that of the first file on the command line that failed.
  private final class Outcome {
    private var first = Int.max
    private(set) var exitCode = ExitCode.delivered

    func note(_ code: Int32, of index: Int) {
      guard index < first else { return }
      first = index
      exitCode = code
    }
  }
}
