import Uploader

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
    if due.count < Limits.dueRemovalCount { due.append((recordID, file(request))) }
    return true
  }

  /// Retries the removals. This is done when nothing is uploaded, because it may have to read whole files.
  func run(_ cancellation: Cancellation) {
    let remover = Remover(
      removal, arguments.template.afterDelivery, arguments.options, records, report, cancellation)
    for (recordID, file) in due where !cancellation.isCancelled && !cancellation.isFinishing {
      do throws(StateError) {
        guard let record = try records.directory.current(recordID),
          let reason = try remover.remove(record, at: file.path, below: file.foundBelow)
        else { continue }
        if reason.endsRemoval { records.directory.clearRemovalDue(recordID) }
      } catch { report.warn(UploadError.state(error).explanation) }
    }
    due = []
  }
}
