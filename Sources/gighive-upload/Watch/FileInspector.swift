import CShims
import Uploader

/// Examines files of watched directories, with few system calls: thousands of them may have been delivered.
final class FileInspector {
  private let arguments: WatchArguments
  private let finder: UploadFinder
  /// What was examined last, until ``forgetFileSystem()``.
  private var fileSystem: (device: UInt64, type: UInt64)?
  private var last: (path: LocalPath, directory: OpenDirectory)?
  /// Whether writers could not be detected, since this was last asked.
  private var isBlind = false

  init(_ arguments: WatchArguments, _ finder: UploadFinder) {
    self.arguments = arguments
    self.finder = finder
  }

  /// Another file system may be mounted by now, with the same device number, and another directory may have the same path.
  func forgetFileSystem() {
    fileSystem = nil
    last = nil
  }

  func takeBlindness() -> Bool {
    defer { isBlind = false }
    return isBlind
  }

  /// - Parameters:
  ///   - root: the watched directory that it is in, below which no link is followed.
  ///   - existing: the files that are left alone, unless their upload has begun; nil for none.
  ///   - isKnown: whether nothing needs to be known about a key.
  func inspect(
    _ path: [UInt8], below root: LocalPath, asksForWriters: Bool, existing: ExistingList?, isKnown: (UInt64) -> Bool
  ) -> FileInspection {
    let file = LocalPath(bytes: path)
    guard arguments.sending.selection.takes(file: file.name.bytes) else { return .nothing }
    let (directory, status): (OpenDirectory, shim_file_status)
    do throws(SystemError) {
      directory = try self.directory(of: file, below: root)
      status = try directory.examine(file.name).get()
    } catch {
      // That may be allowed at any time.
      return error.isPassing || error.code == SHIM_EACCES ? .unknown : .nothing
    }
    guard status.isRegular else { return .nothing }
    let isLong = status.size >= max(1, arguments.sending.minimumSize ?? 1)
    // Nothing tells later that one that is empty when it is made has become long enough.
    guard isLong || arguments.settings.live != nil else { return .nothing }
    let kind = FileSystem.kind(type: fileSystemType(file.name, in: directory, status.device))
    let key = WatchFileKey.of(file, status, in: directory, hasStableInodes: kind == .stable)
    if isKnown(key) { return .known }
    var found = WatchedFile(key: key, seen: FileSighting(status, on: kind))
    // The worker reports errors in its description.
    if let request = request(path, below: root) {
      switch finder.find(request, status, hasStableInodes: kind == .stable) {
      case .delivered: return .delivered(key: key)
      case .begun(let pause): (found.isBegun, found.pause) = (true, pause)
      case .unknown: break
      }
    }
    if !found.isBegun, existing?.contains(file, status) ?? false { return .nothing }
    if asksForWriters {
      found.isMarked = UnfinishedMark.beside(file) != nil
      found.writers = found.isMarked ? .writer : writers(file.name, in: directory)
      guard isLong || found.writers == .writer else { return .nothing }
    }
    return .file(found)
  }

  /// Makes sure that a record says that the file is to be sent, if it is.
  /// - Parameter begins: whether there may be a new record.
  /// - Returns: false if that is not possible now.
  func claim(_ path: [UInt8], below root: LocalPath, existing: ExistingList?, begins: Bool = true) -> Bool {
    switch inspect(path, below: root, asksForWriters: false, existing: existing, isKnown: { _ in false }) {
    case .unknown: return false
    case .nothing, .known, .delivered: return true
    case .file(let found) where found.size == 0: return true
    case .file:
      // Without a description, perhaps because its sidecar cannot be read now.
      return request(path, below: root).map { begins ? finder.begin($0) : finder.needsNothing($0) } ?? false
    }
  }

  /// The request for a file.
  /// - Returns: nil if there is an error in its description.
  func request(_ path: [UInt8], below root: LocalPath) -> UploadRequest? {
    try? arguments.sending.request(for: BatchFile(path: LocalPath(bytes: path), foundBelow: root))
  }

  private func directory(of file: LocalPath, below root: LocalPath) throws(SystemError) -> OpenDirectory {
    let path = file.directory
    if let last, last.path == path { return last.directory }
    // Nothing is sent from there, by whoever it is found.
    guard arguments.sending.selection.enters(path, below: root) else { throw SystemError(code: SHIM_ENOENT) }
    let directory = try OpenDirectory(path, below: root)
    last = (path, directory)
    return directory
  }

  private func fileSystemType(_ name: LocalPath, in directory: OpenDirectory, _ device: UInt64) -> UInt64 {
    if let fileSystem, fileSystem.device == device { return fileSystem.type }
    let descriptor = directory.open(name)
    guard descriptor >= 0 else { return 0 }
    defer { _ = shim_close(descriptor) }
    let type = shim_file_system_type(descriptor)
    fileSystem = (device, type)
    return type
  }

  private func writers(_ name: LocalPath, in directory: OpenDirectory) -> FileWriters {
    let descriptor = directory.open(name)
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
  static func of(
    _ path: LocalPath, _ status: shim_file_status, in directory: OpenDirectory, hasStableInodes: Bool
  ) -> UInt64 {
    var numbers = hasStableInodes ? numbers(status) : content(status)
    if let sidecar = directory.status(of: path.sidecar.name) {
      numbers += hasStableInodes ? self.numbers(sidecar) : content(sidecar)
    }
    return WatchedFile.key(path.bytes, numbers)
  }

  /// For a file with credentials, which may be a link; 0 if there is none.
  static func of(_ path: LocalPath) -> UInt64 {
    shim_file_status(at: path).map { WatchedFile.key(path.bytes, numbers($0)) } ?? 0
  }

  private static func numbers(_ status: shim_file_status) -> [UInt64] {
    [status.device, status.inode] + content(status)
      + [status.changed_seconds, status.changed_nanoseconds].map { UInt64(bitPattern: $0) }
  }

  private static func content(_ status: shim_file_status) -> [UInt64] {
    [status.size, status.modified_seconds, status.modified_nanoseconds].map { UInt64(bitPattern: $0) }
  }
}
