import CShims
import UploadCore

/// A recording on the disk, opened once and read from front to back.
final class SourceFile {
  let path: LocalPath
  let descriptor: Int32
  private let statusAtOpen: shim_file_status
  /// When its content was last known to be what it was when the file was opened.
  private var changed: StatusTime

  /// Bytes, as counted when the file was opened.
  var size: Int64 { statusAtOpen.size }

  /// Opens the file and checks that it is one to send. (In Embedded Swift, an initializer of a class that throws does not free the
  /// object.)
  /// - Parameter limit: the largest size taken, in bytes.
  static func open(_ path: LocalPath, limit: Int64) throws(FileError) -> SourceFile {
    guard let name = path.cString, !path.bytes.isEmpty else { throw .missing }
    let opened = shim_open_for_reading(name, 0)
    guard opened >= 0 else {
      throw -opened == SHIM_ENOENT || -opened == SHIM_ENOTDIR ? .missing : .unreadable(SystemError(result: opened))
    }
    do throws(FileError) {
      let status = try status(opened)
      try check(status, limit: limit)
      shim_advise_sequential(opened)
      return SourceFile(path, opened, status)
    } catch {
      _ = shim_close(opened)
      throw error
    }
  }

  private init(_ path: LocalPath, _ descriptor: Int32, _ status: shim_file_status) {
    self.path = path
    self.descriptor = descriptor
    statusAtOpen = status
    changed = StatusTime(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds)
  }

  deinit { _ = shim_close(descriptor) }

  /// Is there nothing of that name?
  static func isGone(_ path: LocalPath) -> Bool {
    let opened = shim_open_for_reading(path.cString ?? [0], 0)
    if opened >= 0 { _ = shim_close(opened) }
    return -opened == SHIM_ENOENT || -opened == SHIM_ENOTDIR
  }

  private static func status(_ descriptor: Int32) throws(FileError) -> shim_file_status {
    var status = shim_file_status()
    let result = shim_file_status_of(descriptor, &status)
    guard result == 0 else { throw .unreadable(SystemError(result: result)) }
    return status
  }

  private static func check(_ status: shim_file_status, limit: Int64) throws(FileError) {
    switch Int(status.kind) {
    case SHIM_KIND_REGULAR: break
    case SHIM_KIND_DIRECTORY: throw .notRegular(kind: "a directory")
    case SHIM_KIND_FIFO: throw .notRegular(kind: "a FIFO")
    default: throw .notRegular(kind: "a device")
    }
    guard status.size > 0 else { throw .empty }
    guard status.size <= limit else { throw .tooLarge(size: status.size, limit: limit) }
  }

  /// Reads from `offset` into `space`, as much as there is.
  /// - Returns: bytes, at least one.
  func read(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
    let count = shim_pread(descriptor, space.baseAddress, space.count, offset)
    guard count >= 0 else { throw .readFailed(offset: offset, SystemError(result: count)) }
    guard count > 0 else { throw .shrank(size: size, offset: offset) }
    return Int(count)
  }

  /// What tells the recording from others and from itself after a change.
  /// - Parameter space: room to read into, at least one byte.
  func identity(using space: UnsafeMutableRawBufferPointer) throws(UploadError) -> FileIdentity {
    let digest = try Digest(.sha256)
    let length = min(Int64(Limits.edgeLength), size)
    // Of a short file, both edges are the same bytes or overlap.
    for start in [0, size - length] {
      var taken: Int64 = 0
      while taken < length {
        let room = UnsafeMutableRawBufferPointer(rebasing: space.prefix(Int(length - taken)))
        do throws(FileError) {
          let count = try read(into: room, at: start + taken)
          digest.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
          taken += Int64(count)
        } catch { throw .file(path, error) }
      }
    }
    return FileIdentity(
      device: statusAtOpen.device, inode: statusAtOpen.inode, size: size,
      modifiedSeconds: statusAtOpen.modified_seconds, modifiedNanoseconds: statusAtOpen.modified_nanoseconds,
      edges: try digest.finishInHex())
  }

  /// Checks that the file is what it was when it was opened. What was read before is then the file's content of one
  /// moment; otherwise it may be a mixture that never existed.
  /// - Returns: true if nothing but its status has changed (ctime). That may mean a rewrite, with the modification time restored.
  func verifyUnchanged() throws(FileError) -> Bool {
    let now = try SourceFile.status(descriptor)
    if now.size < size { throw .shrank(size: size, offset: now.size) }
    if now.size > size { throw .grew(from: size, to: now.size) }
    guard now.modified_seconds == statusAtOpen.modified_seconds,
      now.modified_nanoseconds == statusAtOpen.modified_nanoseconds
    else { throw .rewritten }
    return changed != StatusTime(seconds: now.changed_seconds, nanoseconds: now.changed_nanoseconds)
  }

  /// The file's status as it is, for ``settle(_:)``.
  func statusTime() throws(FileError) -> StatusTime {
    let now = try SourceFile.status(descriptor)
    return StatusTime(seconds: now.changed_seconds, nanoseconds: now.changed_nanoseconds)
  }

  /// The content was found to be what it was, with this status.
  func settle(_ time: StatusTime) { changed = time }

  /// Is it the file that fails at this offset, and not the connection that it was to go to?
  func verifyReadable(at offset: Int64) throws(FileError) {
    do throws(FileError) { _ = try SourceFile.status(descriptor) } catch {
      if case .unreadable(let cause) = error { throw .readFailed(offset: offset, cause) }
      throw error
    }
    var byte: UInt8 = 0
    let count = shim_pread(descriptor, &byte, 1, offset)
    guard count >= 0 else { throw .readFailed(offset: offset, SystemError(result: count)) }
    guard count > 0 else { throw .shrank(size: size, offset: offset) }
  }
}
