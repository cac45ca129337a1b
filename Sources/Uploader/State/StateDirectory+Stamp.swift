import CShims
import UploadCore

/// The mark in the index says what the directory was like after the last change by this program. While it matches, nobody needs to
/// read the names of all records. It is based on the directory's modification time, which is set back after each own change, so
/// that any other change shows, even within the same clock tick. How far is random: otherwise this program could, within the tick
/// of somebody else's change, give the directory the time that it had before. In doubt there is no mark, and all names are read.
extension StateDirectory {
  /// - Returns: nil if it cannot be determined.
  func stamp() -> DirectoryStamp? {
    var status = shim_file_status()
    return shim_stat(path.cName, &status) == 0 ? DirectoryStamp(status) : nil
  }

  /// Makes one change of a name in the directory. If another process has changed it, the content of the directory is unknown
  /// from now on.
  func changing(_ change: () -> Int32) -> Int32 {
    guard let known = indexState.stamp else { return change() }
    let before = stamp()
    let result = change()
    // A failed call has changed nothing.
    if result >= 0 || before != known { indexState.stamp = before == known ? backdated() : nil }
    return result
  }

  private func backdated() -> DirectoryStamp? {
    guard let random = try? RandomBytes.number() else { return nil }
    let seconds = Limits.backdatingSeconds + Int64(random % UInt64(Limits.backdatingSpreadSeconds))
    var status = shim_file_status()
    return shim_backdate_directory(path.cName, seconds, &status) == 0 ? DirectoryStamp(status) : nil
  }

  /// Whether the directory and the index match the mark. The index must be locked.
  func isMarked(_ mark: UInt64, _ file: IndexFile) -> Bool {
    guard mark != 0, let stamp = stamp(), file.isModified(at: stamp), let boot = boot() else { return false }
    guard mark == stamp.mark(boot: boot) else { return false }
    indexState.stamp = stamp
    return true
  }

  /// Called before the names are read, so that changes by others from now on are detected later.
  func beginStamp() { indexState.stamp = backdated() }

  /// Called after the last change for now: marks the index if all changes were made by this process.
  func markIndex() {
    guard let known = indexState.stamp, !indexState.isBroken, let boot = boot() else { return }
    guard case .open(let index) = openIndex(isForSearch: false) else { return }
    index.mark(at: known, boot: boot) { [self] in stamp() == known }
  }

  /// The kernel's boot ID; nil if unknown.
  private func boot() -> [UInt8]? {
    if let boot = indexState.boot { return boot }
    let descriptor = shim_open_for_reading("/proc/sys/kernel/random/boot_id", 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    // A UUID and a line end.
    guard let boot = (try? SmallFile.read(descriptor, limit: 36))?.prefix(36), boot.count == 36 else { return nil }
    indexState.boot = Array(boot)
    return indexState.boot
  }
}
