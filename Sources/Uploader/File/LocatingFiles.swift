import CShims
import UploadCore

extension UploadRecord {
  /// Looks for the file at its path; if it is missing, at its directory.
  package func locateFile() -> FilePresence {
    file.path.presence(on: FileSystem(device: file.identity.device, id: file.fileSystemID))
  }

  /// Whether its path leads to this file. The directory of a delivered one can have got another name since.
  package func isAt(_ seen: shim_file_status) -> Bool {
    if case .success(let status) = file.path.status { status.isSameFile(as: seen) } else { false }
  }

  /// Whether its path may still lead to its file: nothing is known of a drive that is not mounted.
  package var mayHaveFile: Bool {
    if case .success(let status) = file.path.status {
      return !file.identity.hasStableInode || status.inode == file.identity.inode
    }
    if case .gone = locateFile() { return false }
    return true
  }
}

extension LocalPath {
  /// Looks for a file here; if it is missing, at its directory.
  /// - Parameter recorded: the file system that the file was on.
  func presence(on recorded: FileSystem) -> FilePresence { FilePresence(observation, recorded: recorded) }

  private var observation: FilePresence.Observation {
    switch status {
    case .success: .found
    case .failure(let error) where LocalPath.isMissing(error): .missing(directory.directoryObservation)
    case .failure(let error): shim_is_disconnection(error.code) != 0 ? .disconnected : .unreadable(error)
    }
  }

  private var directoryObservation: FilePresence.Directory {
    switch status {
    // A file may have its name by now.
    case .success(let status) where !status.isDirectory: .missing
    case .success(let status): .found(on: FileSystem(device: status.device, id: FileSystem.id(of: self)))
    case .failure(let error): LocalPath.isMissing(error) ? .missing : .unreadable(error)
    }
  }

  /// Of what is here, or what a link here leads to.
  package var status: Result<shim_file_status, SystemError> {
    var status = shim_file_status()
    let result = shim_stat(cName, &status)
    return result == 0 ? .success(status) : .failure(SystemError(result: result))
  }

  private static func isMissing(_ error: SystemError) -> Bool {
    error.code == SHIM_ENOENT || error.code == SHIM_ENOTDIR
  }
}

extension FileSystem {
  /// - Returns: nil if it has none.
  static func id(of descriptor: Int32) -> UInt64? {
    let id = shim_file_system_id(descriptor)
    return id == 0 ? nil : id
  }

  /// - Returns: nil if it has none, or the directory cannot be opened.
  fileprivate static func id(of directory: LocalPath) -> UInt64? {
    let descriptor = shim_open_for_reading(directory.cName, 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    return id(of: descriptor)
  }
}

extension LocalPath {
  /// Whether both lead to the same file or directory now.
  func leadsTo(sameAs other: LocalPath) -> Bool {
    guard let own = shim_file_status(at: self), let theirs = shim_file_status(at: other) else { return false }
    return own.isSameFile(as: theirs)
  }
}
