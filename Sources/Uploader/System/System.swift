import CShims
import UploadCore

extension LocalTime {
  /// - Parameter seconds: since 1970.
  package init(unixSeconds seconds: Int64) {
    var time = shim_local_time()
    shim_local_time_of(seconds, &time)
    self.init(
      year: Int(time.year), month: Int(time.month), day: Int(time.day), hour: Int(time.hour), minute: Int(time.minute))
  }
}

extension EventForm {
  /// Today's date in local time, YYYY-MM-DD.
  package static func today() -> String {
    LocalTime(unixSeconds: shim_unix_seconds()).date
  }
}

extension FreeSpace {
  /// - Returns: nil if the file system does not say.
  package init?(at path: LocalPath) {
    let (bytes, files) = (shim_free_space(path.cName), shim_free_files(path.cName))
    guard bytes >= 0, files >= 0 else { return nil }
    self.init(
      bytes: bytes, files: files, freesAtOnce: FileSystem.freesAtOnce(type: shim_file_system_type_at(path.cName)))
  }
}

extension LocalPath {
  /// The absolute path; nil if there is no working directory.
  package var absolute: LocalPath? {
    if bytes.first == ASCII.slash { return self }
    var directory = [CChar](repeating: 0, count: Limits.pathLength)
    guard shim_working_directory(&directory, directory.count) == 0 else { return nil }
    return LocalPath(bytes: LocalPath(cString: directory).bytes + [ASCII.slash] + bytes)
  }
}

extension shim_file_status {
  /// What has this path, or what a link there leads to; nil if there is nothing, or it cannot be examined.
  package init?(at path: LocalPath) {
    self.init()
    guard shim_stat(path.cName, &self) == 0 else { return nil }
  }

  /// The same of a link itself.
  package init?(ofLinkAt path: LocalPath) {
    self.init()
    guard shim_lstat(path.cName, &self) == 0 else { return nil }
  }

  /// What is open; nil if the system does not say.
  package init?(of descriptor: Int32) {
    self.init()
    guard shim_fstat(descriptor, &self) == 0 else { return nil }
  }

  package static func of(_ descriptor: Int32) throws(SystemError) -> shim_file_status {
    var status = shim_file_status()
    let result = shim_fstat(descriptor, &status)
    guard result == 0 else { throw SystemError(result: result) }
    return status
  }

  package var isRegular: Bool { Int(kind) == SHIM_KIND_REGULAR }
  package var isDirectory: Bool { Int(kind) == SHIM_KIND_DIRECTORY }

  package func isSameFile(as other: shim_file_status) -> Bool { device == other.device && inode == other.inode }
}

extension SystemError {
  /// "Connection refused"
  public var text: String { String(cString: shim_error_text(code)) }
}

/// Unpredictable bytes from the kernel (getrandom(2)).
package enum RandomBytes {
  package static func bytes(_ count: Int) throws(UploadError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard shim_random(&bytes, count) == 0 else { throw .outOfResources("randomness") }
    return bytes
  }

  static func number() throws(UploadError) -> UInt64 {
    try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Reads small files completely.
package enum SmallFile {
  /// The whole content of a regular file; nil if it cannot be read, or is longer than the limit.
  package static func contents(of path: LocalPath, limit: Int) -> [UInt8]? {
    let descriptor = shim_open_for_reading(path.cName, 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    guard let status = shim_file_status(of: descriptor), status.isRegular, status.size <= Int64(limit)
    else { return nil }
    // The files of /proc have no size.
    let length = status.size > 0 ? Int(status.size) : limit
    guard let bytes = try? read(descriptor, limit: length), bytes.count <= length else { return nil }
    return bytes
  }

  /// - Returns: the whole content; one byte more than the limit if it is longer.
  package static func read(_ descriptor: Int32, limit: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes { shim_read(descriptor, $0.baseAddress! + length, $0.count - length) }
      if count < 0 { throw SystemError(result: count) }
      if count == 0 { break }
      length += Int(count)
    }
    return Array(bytes[..<length])
  }

  /// Reads a part of the file.
  /// - Returns: fewer bytes if the file ends before.
  package static func read(_ descriptor: Int32, _ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
      let result = bytes.withUnsafeMutableBytes {
        shim_pread(descriptor, $0.baseAddress! + length, count - length, offset + Int64(length))
      }
      if result < 0 { throw SystemError(result: result) }
      if result == 0 { break }
      length += Int(result)
    }
    if length < count { bytes.removeLast(count - length) }
    return bytes
  }
}
