import CShims
import UploadCore

/// Locks between processes: one for each upload, and one for the directory, while a record is looked for and created. They are held
/// by flock(2), so the kernel releases them when a process ends.
extension StateDirectory {
  /// Locks an upload against other processes.
  /// - Returns: nil if another process has locked it.
  package func lock(_ id: String) throws(StateError) -> StateLock? {
    try lock(file: file(id + ".lock"), changesDirectory: true)
  }

  /// Locks an upload and reads its record again: another process may have changed it since it was found.
  package func lockRecord(_ id: String) throws(StateError) -> RecordLocking {
    guard let lock = try lock(id) else { return .busy }
    guard let record = try current(id) else {
      removeLock(id)
      return .gone
    }
    return .locked(lock, record)
  }

  /// Whether another process is working on the upload. It may begin to at any time.
  package func isLocked(_ id: String) -> Bool {
    // Held, so that a process that is about to resume the upload waits for a moment instead of finding it locked.
    guard let creation = try? lockForCreation() else { return false }
    defer { withExtendedLifetime(creation) {} }
    do throws(StateError) { return try lock(file: file(id + ".lock"), mustExist: true) == nil } catch { return false }
  }

  /// Locks the directory, in order to look for a record and create one.
  /// - Returns: nil if another process has locked it for the moment.
  func lockForCreation() throws(StateError) -> StateLock? {
    let file = file("directory.lock")
    do throws(StateError) { return try lock(file: file) } catch {
      // The directory has been removed in the meantime.
      guard case .unusable(_, let cause) = error, cause.code == SHIM_ENOENT else { throw error }
      try makeDirectories()
      return try lock(file: file)
    }
  }

  /// - Parameters:
  ///   - mustExist: does not create the file.
  ///   - changesDirectory: whether it can create a name, so that the directory's stamp changes.
  func lock(file: LocalPath, mustExist: Bool = false, changesDirectory: Bool = false) throws(StateError) -> StateLock? {
    // The index is also locked like this, and keeps its content.
    let how = mustExist ? SHIM_OPEN_EXISTING : SHIM_OPEN_CREATE
    let name = file.cName
    for _ in 0..<Limits.removedLockCount {
      let descriptor = withBallast {
        let result = changesDirectory ? openForWriting(name, Int32(how)) : shim_open_for_writing(name, Int32(how))
        guard result < 0, changesDirectory, SystemError(result: result).isLackOfSpace, takeSpareLock(as: file) else {
          return result
        }
        return shim_open_for_writing(name, Int32(SHIM_OPEN_EXISTING))
      }
      guard descriptor >= 0 else { throw failure(of: file, descriptor) }
      let lock = StateLock(descriptor: descriptor)
      let result = shim_lock(descriptor)
      if result == 0 { return lock }
      if -result == SHIM_EAGAIN { return nil }
      // Another process has removed it since it was opened. The next one of this name counts.
      guard -result == SHIM_ENOENT else { throw .unusable(file, SystemError(result: result)) }
    }
    return nil
  }

  /// Removes the lock file. The record must not exist, or not yet.
  package func removeLock(_ id: String) { _ = unlink(file(id + ".lock").cName) }
}
