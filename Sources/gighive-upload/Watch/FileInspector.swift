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
  ///   - existing: the files that are left alone, unless their upload has begun; nil for none.
  ///   - isKnown: whether nothing needs to be known about a key.
  func inspect(
    _ path: [UInt8], asksForWriters: Bool, existing: ExistingList?, isKnown: (UInt64) -> Bool
  ) -> FileInspection {
    let file = LocalPath(bytes: path)
    var status = shim_file_status()
    guard let cString = file.cString, arguments.sending.selection.takes(file: Array(file.lastComponentBytes)),
      shim_lstat(cString, &status) == 0, Int(status.kind) == SHIM_KIND_REGULAR,
      status.size >= max(1, arguments.sending.minimumSize ?? 1)
    else { return .nothing }
    let type = fileSystemType(cString, status.device)
    let hasStableInodes = FileSystem.hasStableInodes(type: type)
    let key = WatchFileKey.of(path, status, hasStableInodes: hasStableInodes)
    if isKnown(key) { return .known }
    var found = WatchedFile(key: key, size: status.size, modifiedSeconds: status.modified_seconds)
    // The worker reports errors in its description.
    if let request = try? arguments.sending.request(for: BatchFile(path: file, isFound: true)) {
      switch finder.find(request, status, hasStableInodes: hasStableInodes) {
      case .delivered: return .delivered(key: key)
      case .begun: found.isBegun = true
      case .unknown: break
      }
    }
    if !found.isBegun, existing?.contains(file, status) ?? false { return .nothing }
    if asksForWriters { found.writers = UnfinishedMark.beside(file) == nil ? writers(cString, type) : .some }
    return .file(found)
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

  private func writers(_ path: [CChar], _ type: UInt64) -> WatchedFile.Writers {
    let descriptor = shim_open_nofollow(path)
    // Another process has a lease. The worker reports a file that cannot be read at all.
    guard descriptor >= 0 else { return -descriptor == SHIM_EAGAIN ? .some : .none }
    defer { _ = shim_close(descriptor) }
    let result = FileSystem.isShared(type: type) ? SHIM_WRITERS_UNKNOWN : Int(shim_writers(descriptor))
    if result == SHIM_WRITERS_UNKNOWN { isBlind = true }
    return result == SHIM_NO_WRITER ? .none : result == SHIM_WRITER ? .some : .unknown
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
