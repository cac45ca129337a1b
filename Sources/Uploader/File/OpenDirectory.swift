import CShims
import UploadCore

/// A directory with recordings. What is done in it by name is done in this very directory, whatever has its path by then.
package final class OpenDirectory {
  package let descriptor: Int32

  /// - Parameter root: the directory that it was found in; nothing below that may be a link, while it can be one itself. nil for a
  ///   directory that was named, which can be a link.
  /// - Throws: `ELOOP` if there is a link.
  package init(_ path: LocalPath, below root: LocalPath? = nil) throws(SystemError) {
    let named = shim_open_directory((root ?? path).cName)
    guard named >= 0 else { throw SystemError(result: named) }
    guard let root, path != root else {
      descriptor = named
      return
    }
    let found = path.relative(to: root).map { shim_open_below(named, $0.cName, 0) } ?? -SHIM_EXDEV
    _ = shim_close(named)
    guard found >= 0 else { throw SystemError(result: found) }
    descriptor = found
  }

  deinit { _ = shim_close(descriptor) }

  /// nil if the system no longer says.
  var device: UInt64? { shim_file_status(of: descriptor)?.device }

  /// The entry itself, not what a link leads to; nil if there is none, or it cannot be examined.
  package func status(of name: LocalPath) -> shim_file_status? { try? examine(name).get() }

  package func examine(_ name: LocalPath) -> Result<shim_file_status, SystemError> {
    var status = shim_file_status()
    let result = shim_status_at(descriptor, name.cName, &status)
    return result == 0 ? .success(status) : .failure(SystemError(result: result))
  }

  /// Opens a file for reading, without waiting.
  /// - Returns: its descriptor, or -errno: `ELOOP` for a link.
  package func open(_ name: LocalPath) -> Int32 { shim_open_below(descriptor, name.cName, 1) }

  /// Renames whatever has the name then to one that nobody else uses.
  /// - Returns: 0 or -errno.
  func hide(_ name: LocalPath, as hidden: LocalPath) -> Int32 { shim_hide_at(descriptor, name.cName, hidden.cName) }

  /// Never replaces another file.
  /// - Returns: 0 or -errno.
  func rename(_ name: LocalPath, to target: OpenDirectory, _ newName: LocalPath) -> Int32 {
    shim_rename_at(descriptor, name.cName, target.descriptor, newName.cName)
  }

  /// - Returns: 0 or -errno.
  func unlink(_ name: LocalPath) -> Int32 { shim_unlink_at(descriptor, name.cName) }

  /// A file that was renamed in it has its content after a power cut: FAT writes the length and the place of the content into the new
  /// entry only with the file.
  func sync(_ name: LocalPath) {
    let descriptor = open(name)
    guard descriptor >= 0 else { return }
    _ = shim_sync(descriptor)
    _ = shim_close(descriptor)
  }

  /// What was renamed and removed in it survives a power cut.
  /// - Returns: false if it may not.
  func sync() -> Bool { shim_sync_open_directory(descriptor) == 0 }
}
