import CShims
import Uploader

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
