import CShims
import UploadCore

/// A recording under its private name, during its removal.
enum HiddenRecording {
  enum Restoration: Equatable {
    /// There is no such file: it was never renamed, or is gone for good.
    case nothing
    /// It has this name now: its own, or one with a number if there is another file of that name.
    case restored(LocalPath)
    /// Its drive is not mounted.
    case waiting
    case failed(SystemError)
  }

  /// Gives a recording its name back, without replacing another file.
  static func restore(_ entry: RemovalEntry) -> Restoration {
    let hidden = entry.privatePath
    guard let status = entryStatus(hidden) else {
      switch hidden.presence(on: entry.fileSystem) {
      case .gone: return .nothing
      case .waitingForMedium, .present: return .waiting
      case .unknown(let error): return .failed(error)
      }
    }
    let directory = entry.path.directory
    // It can have both names for a moment, where a file system cannot rename without replacing.
    if let other = entryStatus(entry.path), other.isSameFile(as: status) {
      let result = shim_unlink(hidden.cName)
      guard result == 0 else { return .failed(SystemError(result: result)) }
      _ = shim_sync_directory(directory.cName)
      return .restored(entry.path)
    }
    do throws(SystemError) {
      let path = try rename(hidden, toFreeNameLike: entry.path)
      _ = shim_sync_directory(directory.cName)
      return .restored(path)
    } catch { return .failed(error) }
  }

  /// Renames a file to the first name that is free: this one, or one with a number.
  /// - Returns: the name.
  /// - Throws: `EEXIST` if there are too many.
  static func rename(_ file: LocalPath, toFreeNameLike path: LocalPath) throws(SystemError) -> LocalPath {
    var result: Int32 = 0
    for number in 0...Limits.numberedNameCount {
      let name = path.numbered(number)
      result = shim_rename_noreplace(file.cName, name.cName)
      if result == 0 { return name }
      if -result != SHIM_EEXIST { break }
    }
    throw SystemError(result: result)
  }

  /// The file with this name; nil if there is none, or it cannot be examined.
  static func entryStatus(_ path: LocalPath) -> shim_file_status? {
    var status = shim_file_status()
    return shim_lstat(path.cName, &status) == 0 ? status : nil
  }
}

extension shim_file_status {
  func isSameFile(as other: shim_file_status) -> Bool { device == other.device && inode == other.inode }
}
