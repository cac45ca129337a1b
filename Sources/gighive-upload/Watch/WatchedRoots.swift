import CShims
import Uploader

/// The directories that this watcher has locked. Another watcher, which may have another state directory, must not watch one of those above or
/// below: it would send the same recordings.
final class WatchedRoots {
  private var all: [shim_file_status] = []

  /// - Parameter descriptor: that of a directory that was locked.
  func add(_ descriptor: Int32) {
    var status = shim_file_status()
    if shim_fstat(descriptor, &status) == 0 { all.append(status) }
  }

  func remove(_ descriptor: Int32) {
    var status = shim_file_status()
    guard shim_fstat(descriptor, &status) == 0 else { return }
    if let index = all.firstIndex(where: { $0.isSameFile(as: status) }) { all.remove(at: index) }
  }

  /// Whether another watcher has locked a directory. One that cannot be read is not its.
  func isForeign(_ directory: OpenDirectory) -> Bool {
    let descriptor = directory.open(".")
    guard descriptor >= 0 else { return false }
    defer { _ = shim_close(descriptor) }
    return isForeign(descriptor)
  }

  private func isForeign(_ descriptor: Int32) -> Bool {
    guard shim_is_locked(descriptor) != 0 else { return false }
    var status = shim_file_status()
    return shim_fstat(descriptor, &status) == 0 && !all.contains { $0.isSameFile(as: status) }
  }

  /// Whether another watcher has locked a directory above this one. One that cannot be read is passed.
  func isBelowForeign(_ directory: LocalPath) -> Bool {
    var path = directory
    var last = shim_file_status()
    for _ in 0..<Limits.directoryDepth {
      path = path.appending("/..")
      var status = shim_file_status()
      // The one above the root of all is that itself.
      guard shim_stat(path.cName, &status) == 0, !status.isSameFile(as: last) else { return false }
      last = status
      let descriptor = shim_open_for_reading(path.cName, 0)
      guard descriptor >= 0 else { continue }
      defer { _ = shim_close(descriptor) }
      if isForeign(descriptor) { return true }
    }
    return false
  }
}
