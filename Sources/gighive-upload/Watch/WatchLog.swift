import CShims
import Uploader

/// Notices on standard error. In the journal each line has its priority.
struct WatchLog {
  private let isQuiet: Bool
  private let isJournal = WatchLog.isErrorJournal

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  /// Never waits: a line that is not read is lost.
  func tell(_ notice: WatchNotice) {
    if isQuiet, notice.priority != .error { return }
    Console.error(notice.logLine(inJournal: isJournal), .remark)
  }

  /// Whether standard error is what systemd connected to the journal (systemd.exec(5), $JOURNAL_STREAM).
  private static var isErrorJournal: Bool {
    guard let stream = environment("JOURNAL_STREAM") else { return false }
    var status = shim_file_status()
    guard shim_fstat(2, &status) == 0 else { return false }
    return stream == String(status.device) + ":" + String(status.inode)
  }
}
