import CShims
import Uploader

/// A small file with a secret in it.
struct SecretFile {
  private let path: LocalPath
  private let allowsShared: Bool
  private let mayWait: Bool

  init(_ path: LocalPath, allowsShared: Bool, mayWait: Bool = true) {
    self.path = path
    self.allowsShared = allowsShared
    self.mayWait = mayWait
  }

  func firstLine() throws(UsageError) -> [UInt8] {
    let bytes = try read(limit: Limits.secretFileLength)
    let line = bytes.prefix { $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
    guard !line.isEmpty else { throw UsageError(name + " has an empty first line.") }
    return Array(line)
  }

  /// Reads a whole file, or a pipe such as `<(pass show gighive)`.
  func read(limit: Int) throws(UsageError) -> [UInt8] {
    guard let path = path.cString else { throw UsageError("a file name cannot contain a NUL.") }
    let descriptor = shim_open_for_reading(path, mayWait ? 1 : 0)
    guard descriptor >= 0 else { throw failure(SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    try refuseShared(descriptor)
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try SmallFile.read(descriptor, limit: limit) } catch { throw failure(error) }
    guard bytes.count <= limit else { throw UsageError(name + " is longer than " + SizeText.exact(Int64(limit)) + ".") }
    return bytes
  }

  /// Refuses a pipe, or anything else that can be read only once. A file that is missing is reported when it is read.
  static func requireRegular(_ path: LocalPath) throws(UsageError) {
    var status = shim_file_status()
    guard let cString = path.cString, shim_stat(cString, &status) == 0, Int(status.kind) != SHIM_KIND_REGULAR else {
      return
    }
    throw UsageError(
      PrintableText.line(path.text)
        + " is not a regular file. A watcher reads it again for each upload process, so a pipe cannot be used; write it to a "
        + "file that only you can read.")
  }

  private var name: String { PrintableText.line(path.text) }

  /// Whether systemd passed it to this service. Its group permissions are the mask of an access control list.
  private var isSystemdCredential: Bool {
    guard let directory = environmentPath("CREDENTIALS_DIRECTORY") else { return false }
    return path.bytes.starts(with: directory.bytes + [ASCII.slash])
  }

  private func failure(_ error: SystemError) -> UsageError { UsageError(name + ": " + error.text + ".") }

  /// Refuses a file that other users can read.
  private func refuseShared(_ descriptor: Int32) throws(UsageError) {
    if allowsShared { return }
    var status = shim_file_status()
    let result = shim_fstat(descriptor, &status)
    guard result == 0 else { throw failure(SystemError(result: result)) }
    if Int(status.kind) != SHIM_KIND_REGULAR || status.mode & (isSystemdCredential ? 0o037 : 0o077) == 0 { return }
    throw UsageError(
      name + " can be read by other users; run chmod 600 on it, or use --shared-secrets to accept it.")
  }
}
