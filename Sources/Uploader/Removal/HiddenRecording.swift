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
  /// - Parameters:
  ///   - directory: that of the recording, which must be synced afterwards; nil if it cannot be opened.
  ///   - descriptor: of the recording, if it is open, perhaps with a lease; -1 if not.
  static func restore(_ entry: RemovalEntry, in directory: OpenDirectory?, open descriptor: Int32 = -1) -> Restoration {
    let hidden = entry.privatePath.name
    guard let directory, let status = directory.status(of: hidden) else { return absence(entry) }
    // It can have both names for a moment, where a file system cannot rename without replacing.
    if let other = directory.status(of: entry.path.name), other.isSameFile(as: status) {
      let result = directory.unlink(hidden)
      return result == 0 ? .restored(entry.path) : .failed(SystemError(result: result))
    }
    do throws(SystemError) {
      let number = try rename(hidden, in: directory, to: directory, freeNameLike: entry.path.name)
      let restored = entry.path.numbered(number)
      if descriptor < 0 { directory.sync(restored.name) } else { _ = shim_sync(descriptor) }
      return .restored(restored)
    } catch { return .failed(error) }
  }

  /// There is no file of the private name, or it cannot be examined.
  private static func absence(_ entry: RemovalEntry) -> Restoration {
    switch entry.privatePath.presence(on: entry.fileSystem) {
    case .gone: .nothing
    case .waitingForMedium, .present: .waiting
    case .unknown(let error): .failed(error)
    }
  }

  /// Renames a file to the first name that is free: this one, or one with a number.
  /// - Parameter making: makes the call, or repeats it.
  /// - Returns: the number; 0 for none.
  /// - Throws: `EEXIST` if there are too many.
  static func rename(
    _ file: LocalPath, in directory: OpenDirectory, to target: OpenDirectory, freeNameLike name: LocalPath,
    by making: (() -> Int32) -> Int32 = { $0() }
  ) throws(SystemError) -> Int {
    var result: Int32 = 0
    for number in 0...Limits.numberedNameCount {
      result = making { directory.rename(file, to: target, name.numbered(number)) }
      if result == 0 { return number }
      if -result != SHIM_EEXIST { break }
    }
    throw SystemError(result: result)
  }
}

extension shim_file_status {
  package func isSameFile(as other: shim_file_status) -> Bool { device == other.device && inode == other.inode }
}
