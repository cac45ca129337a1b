import CShims
import Uploader

/// Examines files of watched directories, with few system calls: thousands of them may have been delivered.
final class FileInspector {
  private let arguments: WatchArguments
  private let finder: UploadFinder
  /// The file system that was examined last, until ``forgetFileSystem()``.
  private var fileSystem: (device: UInt64, type: UInt64)?
  /// Whether writers could not be detected, since this was last asked.
  private var isBlind = false

  init(_ arguments: WatchArguments, _ finder: UploadFinder) {
    self.arguments = arguments
    self.finder = finder
  }

  /// Another file system may be mounted by now, with the same device number.
  func forgetFileSystem() { fileSystem = nil }

  func takeBlindness() -> Bool {
    defer { isBlind = false }
    return isBlind
  }

  /// - Parameters:
  ///   - firstStart: files that have not changed since this time are left alone, unless their upload has begun, in seconds since
  ///     1970; nil for none.
  ///   - isKnown: whether nothing needs to be known about a key.
  func inspect(
    _ path: [UInt8], asksForWriters: Bool, firstStart: Int64?, isKnown: (UInt64) -> Bool
  ) -> FileInspection {
    let file = LocalPath(bytes: path)
    var status = shim_file_status()
    guard let cString = file.cString, arguments.sending.selection.takes(file: Array(file.lastComponentBytes)) else {
      return .nothing
    }
    let looked = shim_lstat(cString, &status)
    if looked != 0 { return SystemError(result: looked).isPassing ? .unknown : .nothing }
    guard Int(status.kind) == SHIM_KIND_REGULAR, status.size >= max(1, arguments.sending.minimumSize ?? 1) else {
      return .nothing
    }
    let type = fileSystemType(cString, status.device)
    let kind = FileSystem.kind(type: type)
    let key = WatchFileKey.of(path, status, hasStableInodes: kind == .stable)
    if isKnown(key) { return .known }
    var found = WatchedFile(key: key, seen: FileSighting(status, on: kind))
    // The worker reports errors in its description.
    if let request = try? arguments.sending.request(for: BatchFile(path: file, isFound: true)) {
      switch finder.find(request, status, hasStableInodes: kind == .stable) {
      case .delivered: return .delivered(key: key)
      case .begun: found.isBegun = true
      case .unknown: break
      }
    }
    if !found.isBegun, FileInspector.isOld(status, firstStart) { return .nothing }
    if asksForWriters { found.writers = UnfinishedMark.beside(file) == nil ? writers(cString) : .writer }
    return .file(found)
  }

  /// Makes sure that a record says that the file is to be sent, if it is.
  /// - Returns: false if that is not possible now.
  func claim(_ path: [UInt8], firstStart: Int64?) -> Bool {
    guard case .file(let found) = inspect(path, asksForWriters: false, firstStart: firstStart, isKnown: { _ in false }),
      !found.isBegun,
      let request = try? arguments.sending.request(for: BatchFile(path: LocalPath(bytes: path), isFound: true))
    else { return true }
    return finder.begin(request)
  }

  /// Whether the file was there at the first start. A file dated by a clock that had not been set counts as new.
  static func isOld(_ status: shim_file_status, _ firstStart: Int64?) -> Bool {
    guard let firstStart else { return false }
    let changed = max(status.changed_seconds, status.modified_seconds)
    return changed < firstStart && changed >= Limits.plausibleTime
  }

  private func fileSystemType(_ path: [CChar], _ device: UInt64) -> UInt64 {
    if let fileSystem, fileSystem.device == device { return fileSystem.type }
    let descriptor = shim_open_nofollow(path)
    guard descriptor >= 0 else { return 0 }
    defer { _ = shim_close(descriptor) }
    let type = shim_file_system_type(descriptor)
    fileSystem = (device, type)
    return type
  }

  private func writers(_ path: [CChar]) -> FileWriters {
    let descriptor = shim_open_nofollow(path)
    guard descriptor >= 0 else {
      let error = SystemError(result: descriptor)
      // The worker reports a file that cannot be read at all.
      return error.isPassing ? .notNow(error) : .noWriter
    }
    defer { _ = shim_close(descriptor) }
    let writers = FileWriters(of: descriptor)
    if case .undetectable = writers { isBlind = true }
    return writers
  }
}

/// A key that changes with a file, or with its sidecar file.
enum WatchFileKey {
  /// - Parameter hasStableInodes: whether its file system has stable inode numbers. FAT assigns a new one whenever the kernel forgets
  ///   the old one.
  static func of(_ path: [UInt8], _ status: shim_file_status, hasStableInodes: Bool) -> UInt64 {
    var numbers = hasStableInodes ? numbers(status) : content(status)
    var sidecar = shim_file_status()
    let name = LocalPath(bytes: path + FileSelection.sidecarEnding.utf8)
    if shim_lstat(name.cName, &sidecar) == 0 {
      numbers += hasStableInodes ? self.numbers(sidecar) : content(sidecar)
    }
    return WatchedFile.key(path, numbers)
  }

  /// For a file with credentials, which may be a link; 0 if there is none.
  static func of(_ path: LocalPath) -> UInt64 {
    var status = shim_file_status()
    return shim_stat(path.cName, &status) == 0 ? WatchedFile.key(path.bytes, numbers(status)) : 0
  }

  private static func numbers(_ status: shim_file_status) -> [UInt64] {
    [status.device, status.inode] + content(status)
      + [status.changed_seconds, status.changed_nanoseconds].map { UInt64(bitPattern: $0) }
  }

  private static func content(_ status: shim_file_status) -> [UInt64] {
    [status.size, status.modified_seconds, status.modified_nanoseconds].map { UInt64(bitPattern: $0) }
  }
}
