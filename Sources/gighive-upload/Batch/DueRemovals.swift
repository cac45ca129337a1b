import Uploader

/// Recordings that an earlier run delivered but could not remove at that moment, and that this run has found again.
final class DueRemovals {
  private let arguments: SendArguments
  private let removal: AfterDelivery.Removal
  private let records: Records
  private let report: Report
  private var recordIDs: [String] = []

  /// - Returns: nil if nothing is to be removed.
  init?(_ arguments: SendArguments, _ report: Report) {
    guard let removal = arguments.template.afterDelivery.removal, !arguments.isDryRun,
      let records = Records(arguments.common, report)
    else { return nil }
    self.arguments = arguments
    self.removal = removal
    self.records = records
    self.report = report
  }

  /// A file was skipped, because this upload has delivered it.
  /// - Returns: whether its removal is due.
  func keepIfDue(_ recordID: String) -> Bool {
    guard records.directory.isRemovalDue(recordID) else { return false }
    if recordIDs.count < Limits.dueRemovalCount { recordIDs.append(recordID) }
    return true
  }

  /// Retries the removals. This is done when nothing is uploaded, because it may have to read whole files.
  func run(_ cancellation: Cancellation) {
    let remover = Remover(
      removal, arguments.template.afterDelivery, arguments.options, records, report, cancellation)
    for recordID in recordIDs where !cancellation.isCancelled {
      do throws(StateError) {
        guard let record = try records.directory.current(recordID), let reason = try remover.remove(record) else {
          continue
        }
        if !reason.isTemporary { records.directory.clearRemovalDue(recordID) }
      } catch { report.warn(UploadError.state(error).explanation) }
    }
    recordIDs = []
  }
}
