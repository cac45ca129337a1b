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
    _ record: UploadRecord, _ command: Command, _ options: [GivenOption], _ records: Records, _ report: Report,
    _ cancellation: Cancellation
  ) throws(StateError) -> Int32 {
    let id = record.id
    var code = ExitCode.delivered
    let ended = try records.directory.end(id, deletes: command == .delete) {
      end($0, StoredOptions.options(in: $0.note, with: options), report, cancellation, &code)
    }
    switch ended {
    case .busy:
      report.failed(UploadError.conflict(upload: id), exitCode: ExitCode.conflict, about: record)
      return ExitCode.conflict
    case .failed: break
    case .ended(.isDelivered):
      return refuse(record, " is delivered; to delete it from the server, use gighive-upload delete.", report)
    case .ended(.isNotDelivered):
      return refuse(record, " is not delivered; to cancel it, use gighive-upload cancel.", report)
    case .ended(.hasNoDeleteToken):
      code = ExitCode.refused
      report.failed(
        id + ": the server gave no delete token for it; delete it on the server.", exitCode: code, about: record)
    case .ended(.isReplaced):
      code = ExitCode.conflict
      report.failed(id + ": " + UploadError.objectReplaced.explanation, exitCode: code, about: record)
    case .ended(let ending):
      if ending == .keptByServer {
        report.warn(id + ": the server cannot cancel uploads; it keeps the partial upload until it expires.")
      }
      if command == .cancel {
        report.reportRemoval(record, "cancelled", "cancelled.")
        if record.mayOutliveCancelling {
          report.warn(id + ": all of it was sent, and the server may have stored it. Look there.")
        } else if record.remote == nil, record.destination.isObject || StoredOptions.name(.server, in: record.note) {
          report.warn(id + ": if all of it was sent in one request, the server has stored it. Look there.")
        }
      } else {
        report.reportRemoval(
          record, "deleted", ending == .wasGone ? "is no longer there." : "deleted from the server.")
      }
    }
    return code
  }

  private static func refuse(_ record: UploadRecord, _ advice: String, _ report: Report) -> Int32 {
    report.failed(record.id + advice, exitCode: ExitCode.usage, about: record)
    return ExitCode.usage
  }

  /// nil for another error.
  private static func interruption(_ error: UploadError, of record: UploadRecord, mayBeDone: Bool) -> String? {
    guard case .cancelled = error else { return nil }
    guard mayBeDone else { return "interrupted; nothing has changed on the server." }
    let deed = record.phase == .delivered ? "deleted the recording" : "cancelled the upload"
    return "interrupted; the server may already have " + deed + ". To find out, repeat the command."
  }

  /// - Returns: the URL of an upload that its record does not have, because it is a secret; nil for other uploads.
  private static func secretURL(_ options: [GivenOption], _ common: CommonArguments) throws(UsageError) -> TargetURI? {
    guard let given = options.last(where: { $0.option == .uploadURLFile }) else { return nil }
    let object = try ObjectURL(given, options, allowsShared: common.allowsSharedSecrets)
    guard case .tusUpload(let url, _) = try object.sample else { return nil }
    return url
  }

  /// Asks the server.
  /// - Parameter code: set to the exit code of a failure.
  private static func end(
    _ record: UploadRecord, _ options: [GivenOption], _ report: Report, _ cancellation: Cancellation,
    _ code: inout Int32
  ) -> ServerAnswer {
    guard let endpoint = try? TargetURI(record.destination.endpoint) else {
      code = ExitCode.stateDirectory
      report.failed(
        record.id + ": its record names no server (" + PrintableText.line(record.destination.endpoint) + ").",
        exitCode: code, about: record)
      return .unchanged
    }
    let configuration: Configuration
    var secret: TargetURI?
    do throws(UsageError) {
      let common = try CommonArguments(options)
      configuration = try common.configuration(for: endpoint, report, needsS3Keys: false)
      if record.remote != nil || record.unfinished?.formerURL != nil { secret = try secretURL(options, common) }
    } catch {
      code = ExitCode.usage
      report.failed(record.id + ": " + error.message, exitCode: code, about: record)
      return .unchanged
    }
    let overrides =
      options.has(.methodOverride) || record.unfinished?.detours.overridesMethod ?? false
    do throws(CancelDeleteError) {
      return .ended(
        try Uploader(configuration).end(
          record, at: endpoint, overridesMethod: overrides, region: ObjectURL.region(options), secret: secret,
          cancellation: cancellation,
          onRetry: { report.retrying(record, $0, of: configuration.retryLimit, after: $1) }))
    } catch {
      let (error, answer, mayBeDone) = (error.error, error.answer, error.mayBeDone)
      code = error.exitCode(signal: shim_signal_received())
      let text = interruption(error, of: record, mayBeDone: mayBeDone) ?? error.explanation(after: answer)
      report.failed(record.id + ": " + text, exitCode: code, about: record, answer: answer)
      return mayBeDone ? .unknown : .unchanged
    }
  }
}
