import CShims
import Uploader

/// `gighive-upload list --prune AGE`: drops the records of uploads that are over and whose files are gone. The server is not
/// contacted.
enum Prune {
  static func run(olderThan milliseconds: Int64, _ records: Records, _ report: Report) throws(StateError) {
    // Rounded up.
    let age = (milliseconds - 1) / 1000 + 1
    let now = shim_unix_seconds()
    func isPrunable(_ record: UploadRecord) -> Bool {
      record.isOver(for: age, now: now) && record.locateFile() == .gone
    }
    var count = 0
    var failure: StateError?
    try records.directory.walk(.all) { record in
      guard isPrunable(record) else { return }
      do throws(StateError) {
        // Another process may be deleting the recording.
        guard case .locked(let lock, let current) = try records.directory.lockRecord(record.id) else { return }
        defer { withExtendedLifetime(lock) {} }
        guard isPrunable(current) else {
          if current.phase == .delivered { records.directory.removeLock(record.id) }
          return
        }
        try records.directory.remove(record.id)
        count += 1
        if report.isJSON { report.reportRemoval(record, "forgotten", "forgotten.") }
      } catch { failure = failure ?? error }
    }
    report.say(String(count) + (count == 1 ? " record" : " records") + " dropped.")
    if let failure { throw failure }
  }
}
