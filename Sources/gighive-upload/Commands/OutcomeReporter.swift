import CShims
import Uploader

/// The outcomes of the uploads of one command, as they are reported, and the exit code: that of the first upload, in their
/// order, that failed so that a person is needed, or else of the first one that failed.
final class OutcomeReporter {
  private let report: Report
  private var firstFailed = Int.max
  private(set) var exitCode = ExitCode.delivered

  init(_ report: Report) { self.report = report }

  func keepExitCode(_ code: Int32, of index: Int) {
    let isWorse = exitCode != ExitCode.delivered && ExitCode.yields(exitCode) != ExitCode.yields(code)
    guard isWorse ? ExitCode.yields(exitCode) : index < firstFailed else { return }
    firstFailed = index
    exitCode = code
  }

  /// An observer that reports on uploads.
  /// - Parameters:
  ///   - index: the report's index of each of them.
  ///   - isNamed: whether they are uploads with an ID, as for `resume`.
  ///   - skipped: counts uploads that another process has begun to work on; nil if they are errors.
  ///   - removals: notes files whose removal is due; nil if none are to be removed.
  func observer(
    _ configuration: Configuration, index: @escaping (Int) -> Int, isNamed: Bool, skipped: SkippedUploads? = nil,
    removals: DueRemovals? = nil
  ) -> UploadObserver {
    let report = report
    var observer = UploadObserver()
    observer.onBegin = { report.begin(index($0)) }
    observer.onRecord = { report.recorded(index($0), recordID: $1) }
    observer.onProgress = { report.progress(index($0), $1) }
    observer.onAnswer = { report.answered(index($0), $1) }
    observer.onRetry = { report.retrying(index($0), $1, of: configuration.retryLimit) }
    observer.output = ConsoleOutput(limitMilliseconds: configuration.timeouts.totalMilliseconds)
    observer.onEnd = { [self] request, result in
      let index = index(request)
      switch result {
      case .success(.sent(var recording)):
        // It is compared and removed when nothing is uploaded.
        if case .kept(.beingWritten) = recording.aftermath, let upload = recording.upload,
          removals?.keepIfDue(upload, of: request) ?? false
        {
          recording.aftermath = nil
        }
        report.delivered(index, recording)
      case .success(.deliveredBefore(let previous)):
        let isRemovalDue = removals?.keepIfDue(previous.upload, of: request) ?? false
        report.skipped(index, previous, isNamed: isNamed, isRemovalDue: isRemovalDue)
      case .failure(.conflict(let id)) where skipped.map { !$0.isStrict } ?? false:
        // It was not locked a moment ago.
        report.notStarted(index, recordID: id)
        skipped?.noteBusy(id)
      case .failure(.uncertain(let id)) where skipped != nil:
        report.notStarted(index, recordID: id)
        skipped?.noteMayBeStored()
      case .failure(let error):
        guard case .file(_, .unsettled) = error else { return fail(index, error) }
        report.unsettled(index, error)
        keepExitCode(ExitCode.inputFile, of: index)
      }
    }
    return observer
  }

  func fail(_ index: Int, _ error: UploadError) {
    // Nobody has named it, and it may be there each time.
    if case .file(_, .empty) = error, report.leavesOutEmptyFile(index) { return report.leftOut(index, error) }
    let signal = SignalCancellation.received
    if case .cancelled = error, signal == 0 {
      // Without a signal, only the loop cancels: it started no further file because the output was not read.
      report.failed(index, unread(index), exitCode: ExitCode.outputFailed, .machine)
      return keepExitCode(ExitCode.outputFailed, of: index)
    }
    let code = error.exitCode(signal: signal)
    report.failed(index, error, exitCode: code)
    keepExitCode(code, of: index)
  }

  private func unread(_ index: Int) -> String {
    report.entry(index).name
      + ": not started, because the output was not read within --max-time; nothing was sent."
  }
}
