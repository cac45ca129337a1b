import CShims
import UploadCore

/// What is wrong with a file that was to be sent.
public enum FileError: Error, Equatable, Sendable {
  /// There is no such file.
  case missing
  /// It cannot be opened.
  case unreadable(SystemError)
  /// "a directory", "a FIFO" …
  case notRegular(kind: String)
  /// It has no byte.
  case empty
  /// Sizes in bytes.
  case tooLarge(size: Int64, limit: Int64)
  /// Reading failed at this offset, in bytes.
  case readFailed(offset: Int64, SystemError)
  /// The file ended at `offset`, although it had `size` bytes when it was opened.
  case shrank(size: Int64, offset: Int64)
  /// It has become longer since it was opened. Sizes in bytes.
  case grew(from: Int64, to: Int64)
  /// Its modification time is not what it was when the file was opened.
  case rewritten

  /// Is the file no longer what it was?
  var isChange: Bool {
    switch self {
    case .shrank, .grew, .rewritten: true
    default: false
    }
  }
}

/// A recording on the disk, opened once and read from front to back.
final class SourceFile {
  let path: FilePath
  let descriptor: Int32
  private let statusAtOpen: shim_file_status

  /// Bytes, as counted when the file was opened.
  var size: Int64 { statusAtOpen.size }

  /// Opens the file and checks that it is one to send.
  /// - Parameter limit: the largest size taken, in bytes.
  init(path: FilePath, limit: Int64) throws(FileError) {
    guard let name = path.cString, !path.bytes.isEmpty else { throw .missing }
    let opened = shim_open_for_reading(name, 0)
    guard opened >= 0 else {
      throw -opened == SHIM_ENOENT || -opened == SHIM_ENOTDIR ? .missing : .unreadable(SystemError(result: opened))
    }
    let status: shim_file_status
    do throws(FileError) {
      status = try SourceFile.status(opened)
      try SourceFile.check(status, limit: limit)
    } catch {
      // No property is set yet, so deinit does not run and close it a second time.
      _ = shim_close(opened)
      throw error
    }
    self.path = path
    descriptor = opened
    statusAtOpen = status
    shim_advise_sequential(opened)
  }

  deinit { _ = shim_close(descriptor) }

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
  func verifyUnchanged() throws(FileError) {
    let now = try SourceFile.status(descriptor)
    if now.size < size { throw .shrank(size: size, offset: now.size) }
    if now.size > size { throw .grew(from: size, to: now.size) }
    guard now.modified_seconds == statusAtOpen.modified_seconds,
      now.modified_nanoseconds == statusAtOpen.modified_nanoseconds
    else { throw .rewritten }
  }
}
