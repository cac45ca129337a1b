import CShims
import Uploader

/// `gighive-upload cancel ID...` and `gighive-upload delete ID...`: remove an upload or a recording from the server, and
/// then its record.
enum CancelDelete {
  static func run(_ command: Command, _ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    guard !operands.isEmpty else { throw UsageError("give upload IDs; gighive-upload list shows them.") }
    let report = Report(common, progress: .none)
    guard DescriptorLimit.allows(jobs: 1, report) else { return ExitCode.memoryCeiling }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    let chosen: [UploadRecord]
    do throws(StateError) { chosen = try records.named(operands) } catch { return Records.fail(error, report) }
    let cancellation = SignalCancellation.begin()
    var exitCode = ExitCode.delivered
    for record in chosen {
      Console.awaitAdmission(cancellation)
      let code: Int32
      do throws(StateError) {
        code = try take(record, command, options, records, report, cancellation)
      } catch { code = Records.fail(error, report, about: record) }
      exitCode = ExitCode.combined(exitCode, code)
    }
    return exitCode
  }

  private static func take(
    _ known: UploadRecord, _ command: Command, _ options: [GivenOption], _ records: Records, _ report: Report,
    _ cancellation: Cancellation
  ) throws(StateError) -> Int32 {
    let id = known.id
    let lock: StateLock
    let record: UploadRecord
    switch try records.directory.lockRecord(id) {
    case .locked(let held, let current): (lock, record) = (held, current)
    case .gone: throw .noSuchRecord(id)
    case .busy:
      report.failed(UploadError.conflict(upload: id), exitCode: ExitCode.conflict, about: known)
      return ExitCode.conflict
    }
    defer { withExtendedLifetime(lock) {} }
    let isDelivered = record.phase == .delivered
    guard isDelivered == (command == .delete) else {
      let advice =
        isDelivered
        ? " is delivered; to remove it from the server, use gighive-upload delete."
        : " is not delivered; to cancel it, use gighive-upload cancel."
      report.failed(id + advice, exitCode: ExitCode.usage, about: record)
      if isDelivered { records.directory.removeLock(id) }
      return ExitCode.usage
    }
    if record.delivery?.deletion == .done {
      records.directory.removeLock(id)
      report.reportRemoval(record, "deleted", "deleted from the server.")
      return ExitCode.delivered
    }
    var marked = record
    marked.delivery?.deletion = .requested
    if isDelivered { try records.directory.write(marked) }
    let text: String
    switch end(record, StoredOptions.options(in: record.note, with: options), report, cancellation) {
    case .ended(let wasGone): text = wasGone ? "is no longer there." : "deleted from the server."
    case .unchanged(let code):
      if isDelivered {
        try records.directory.write(record)
        records.directory.removeLock(id)
      }
      return code
    case .unknown(let code):
      if isDelivered { records.directory.removeLock(id) }
      return code
    }
    if isDelivered {
      try forgetDelivery(record, lock, records.directory)
      forgetDeliveries(of: record, records.directory)
      report.reportRemoval(record, "deleted", text)
    } else {
      try records.directory.remove(id)
      report.reportRemoval(record, "cancelled", "cancelled.")
    }
    return ExitCode.delivered
  }

  /// The recording is deleted. Its record goes, too, unless its file may be found again and must not be sent again.
  private static func forgetDelivery(
    _ record: UploadRecord, _ lock: StateLock, _ directory: StateDirectory
  ) throws(StateError) {
    guard record.locateFile() != .gone else { return try directory.remove(record.id) }
    do throws(UploadError) {
      try LockedRecord(record, in: directory, lock: lock).update {
        $0.delivery?.deletion = .done
        $0.delivery?.deleteToken = nil
      }
    } catch {
      if case .state(let cause) = error { throw cause }
    }
    directory.clearRemovalDue(record.id)
    directory.removeLock(record.id)
  }

  /// The same for the deliveries of a deleted recording to other events.
  private static func forgetDeliveries(of deleted: UploadRecord, _ directory: StateDirectory) {
    guard let assetID = deleted.assetID else { return }
    // The recording is deleted. A record that cannot be changed does not change that.
    try? directory.walk(.all) { record in
      guard record.id != deleted.id, record.delivery?.assetID == assetID,
        record.destination.endpoint == deleted.destination.endpoint, let lock = try? directory.lock(record.id)
      else { return }
      try? forgetDelivery(record, lock, directory)
    }
  }

  /// The outcome on the server.
  private enum Outcome {
    /// The server has nothing left of it, or does not support cancelling. `wasGone`: a recording that was not there any more.
    case ended(wasGone: Bool)
    /// The server was not asked, or refused. With an exit code.
    case unchanged(Int32)
    /// The server may or may not have done it. With an exit code.
    case unknown(Int32)
  }

  /// nil for another error.
  private static func interruption(_ error: UploadError, of record: UploadRecord, mayBeDone: Bool) -> String? {
    guard case .cancelled = error else { return nil }
    guard mayBeDone else { return "interrupted; nothing has changed on the server." }
    let deed = record.phase == .delivered ? "deleted the recording" : "cancelled the upload"
    return "interrupted; the server may already have " + deed + ". To find out, repeat the command."
  }

  private static func end(
    _ record: UploadRecord, _ options: [GivenOption], _ report: Report, _ cancellation: Cancellation
  ) -> Outcome {
    guard let endpoint = try? TargetURI(record.destination.endpoint) else {
      report.failed(
        record.id + ": its record names no server (" + PrintableText.line(record.destination.endpoint) + ").",
        exitCode: ExitCode.stateDirectory, about: record)
      return .unchanged(ExitCode.stateDirectory)
    }
    let uploader: Uploader
    let limit: RetryLimit
    do throws(UsageError) {
      let common = try CommonArguments(options)
      let configuration = try common.configuration(for: endpoint, report)
      limit = configuration.retryLimit
      uploader = Uploader(configuration)
    } catch {
      report.failed(record.id + ": " + error.message, exitCode: ExitCode.usage, about: record)
      return .unchanged(ExitCode.usage)
    }
    let onRetry = { report.retrying(record, $0, of: limit, after: $1) }
    var wasGone = false
    do throws(CancelDeleteError) {
      if StoredOptions.name(.webDAV, in: record.note) {
        let isDelivered = record.phase == .delivered
        let leftover = (record.remote?.url ?? record.unfinished?.formerURL).flatMap { try? TargetURI($0) }
        if let object = isDelivered ? endpoint : leftover {
          wasGone = try uploader.remove(
            object, of: endpoint, size: isDelivered ? record.file.identity.size : nil, cancellation: cancellation,
            onRetry: onRetry)
        }
      } else if let delivery = record.delivery {
        guard let assetID = delivery.assetID, let token = delivery.deleteToken else {
          report.failed(
            record.id + ": the server gave no delete token for it; delete it on the server.",
            exitCode: ExitCode.refused, about: record)
          return .unchanged(ExitCode.refused)
        }
        wasGone = try uploader.delete(
          assetID: assetID, deleteToken: token, from: endpoint, isRepeated: delivery.deletion == .requested,
          cancellation: cancellation, onRetry: onRetry)
      } else if let url = record.remote?.url ?? record.unfinished?.formerURL, let location = try? TargetURI(url) {
        let overrides =
          options.contains { $0.option == .methodOverride } || record.unfinished?.detours.overridesMethod ?? false
        let isKept = try uploader.cancel(
          location, createdAt: endpoint, overridesMethod: overrides,
          cookies: record.unfinished?.cookies ?? Cookies(), cancellation: cancellation, onRetry: onRetry)
        if isKept {
          report.warn(record.id + ": the server cannot cancel uploads; it keeps the partial upload until it expires.")
        }
      }
      return .ended(wasGone: wasGone)
    } catch {
      let (error, answer, mayBeDone) = (error.error, error.answer, error.mayBeDone)
      let code = error.exitCode(signal: shim_signal_received())
      let text = interruption(error, of: record, mayBeDone: mayBeDone) ?? error.explanation(after: answer)
      report.failed(record.id + ": " + text, exitCode: code, about: record, answer: answer)
      return mayBeDone ? .unknown(code) : .unchanged(code)
    }
  }
}
