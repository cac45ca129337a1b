import CShims
import UploadCore

/// The index says what the directory was like when its last change was one of this program. As long as that is so, nobody need read
/// the names of all records. It rests on the directory's modification time, which is set back by an hour after each own change, so
/// that any other change shows, also one in the same tick of the clock. In doubt there is no mark, and all names are read.
extension StateDirectory {
  /// - Returns: nil where it cannot be had.
  func stamp() -> DirectoryStamp? {
    var status = shim_file_status()
    return shim_directory_status(path.cString ?? [0], &status) == 0 ? DirectoryStamp(status) : nil
  }

  /// Makes one change of a name in the directory. If somebody else has made one, what is in the directory is unknown from now on.
  func changing(_ change: () -> Int32) -> Int32 {
    guard let known = indexState.stamp else { return change() }
    let before = stamp()
    let result = change()
    // What failed has changed nothing.
    if result >= 0 || before != known { indexState.stamp = before == known ? backdated() : nil }
    return result
  }

  private func backdated() -> DirectoryStamp? {
    var status = shim_file_status()
    return shim_backdate_directory(path.cString ?? [0], &status) == 0 ? DirectoryStamp(status) : nil
  }

  /// Is the directory as the index knows it, and the index as it was left? It must be locked.
  func isMarked(_ mark: UInt64, _ file: IndexFile) -> Bool {
    guard mark != 0, let stamp = stamp(), file.isModified(at: stamp), let boot = boot() else { return false }
    guard mark == stamp.mark(boot: boot) else { return false }
    indexState.stamp = stamp
    return true
  }

  /// From here on the names are read; what is changed meanwhile by others shows later.
  func beginStamp() { indexState.stamp = backdated() }

  /// The last change for now has been made: notes in the index that all of them were this process's own.
  func settle() {
    guard let known = indexState.stamp, !indexState.isBroken, let boot = boot() else { return }
    guard case .open(let index) = openIndex(isForSearch: false) else { return }
    index.settle(at: known, boot: boot) { [self] in stamp() == known }
  }

  /// What the kernel calls the time since the machine's start; nil if it does not say.
  private func boot() -> [UInt8]? {
    if let boot = indexState.boot { return boot }
    let descriptor = shim_open_for_reading("/proc/sys/kernel/random/boot_id", 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 36)
    let count = bytes.withUnsafeMutableBytes { shim_read(descriptor, $0.baseAddress!, $0.count) }
    guard count == bytes.count else { return nil }
    indexState.boot = bytes
    return bytes
  }
}
