import CShims
import Uploader

/// Where credentials come from: files and the environment, never arguments, which every user of the machine can read.
struct CredentialSources {
  var user: String?
  var passwordFile: LocalPath?
  var netrcFile: LocalPath?
  var bearerFile: LocalPath?
  var uploadTokenFile: LocalPath?
  /// Whether files that other users can read are accepted.
  var allowsShared = false
  /// Whether to wait until a pipe has a writer.
  var mayWait = true

  /// Reads the one source that was given.
  /// - Parameter host: the host to look up in a netrc file.
  func load(host: String) throws(UsageError) -> Credentials {
    let kinds = [user != nil || netrcFile != nil, bearerFile != nil, uploadTokenFile != nil].filter { $0 }.count
    guard kinds <= 1 else {
      throw UsageError("use only one of: --user or --netrc, --bearer-file, --upload-token-file.")
    }
    if passwordFile != nil, user == nil || netrcFile != nil {
      throw UsageError("--password-file needs --user, and cannot be combined with --netrc.")
    }
    if let bearerFile { return .bearer(token: try token(in: bearerFile)) }
    if let uploadTokenFile { return .uploadToken(try token(in: uploadTokenFile)) }
    if let netrcFile { return try fromNetrc(netrcFile, host: host) }
    guard let user else { return .none }
    guard !user.utf8.contains(ASCII.colon) else { throw UsageError("a user name cannot contain a colon.") }
    if let passwordFile { return .basic(user: user, password: try firstLine(of: passwordFile)) }
    if let password = environmentBytes("GIGHIVE_PASSWORD") { return .basic(user: user, password: password) }
    throw UsageError("--user needs a password, from --password-file, $GIGHIVE_PASSWORD or --netrc.")
  }

  private func fromNetrc(_ path: LocalPath, host: String) throws(UsageError) -> Credentials {
    let bytes = try SecretFile(path, allowsShared: allowsShared, mayWait: mayWait).read(limit: Limits.netrcFileLength)
    guard let login = Netrc.login(host: host, user: user, in: bytes) else {
      throw UsageError(PrintableText.line(path.text) + " has no entry for " + host + ".")
    }
    return .basic(user: login.user, password: login.password)
  }

  /// Tokens are visible ASCII (RFC 6750, 2.1). One that is not UTF-8 is refused, because decoding would change it.
  private func token(in path: LocalPath) throws(UsageError) -> String {
    let bytes = try firstLine(of: path)
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes) else {
      throw UsageError(PrintableText.line(path.text) + " contains a token that is not UTF-8. Is it the right file?")
    }
    return text
  }

  private func firstLine(of path: LocalPath) throws(UsageError) -> [UInt8] {
    try SecretFile(path, allowsShared: allowsShared, mayWait: mayWait).firstLine()
  }
}

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
    defer { if descriptor >= 0 { _ = shim_close(descriptor) } }
    if descriptor >= 0 { try refuseShared(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var length = 0
    var result = Int64(descriptor)
    while result >= 0, length < bytes.count {
      result = bytes.withUnsafeMutableBytes { shim_read(descriptor, $0.baseAddress! + length, $0.count - length) }
      if result == 0 { break }
      length += max(0, Int(result))
    }
    guard result >= 0 else { throw UsageError(name + ": " + SystemError(code: Int32(-result)).text + ".") }
    guard length <= limit else { throw UsageError(name + " is longer than " + SizeText.exact(Int64(limit)) + ".") }
    return Array(bytes[..<length])
  }

  private var name: String { PrintableText.line(path.text) }

  /// Refuses a file that other users can read.
  private func refuseShared(_ descriptor: Int32) throws(UsageError) {
    if allowsShared { return }
    var status = shim_file_status()
    let result = shim_file_status_of(descriptor, &status)
    guard result == 0 else { throw UsageError(name + ": " + SystemError(code: -result).text + ".") }
    if Int(status.kind) != SHIM_KIND_REGULAR || status.mode & 0o077 == 0 { return }
    throw UsageError(
      name + " can be read by other users; run chmod 600 on it, or use --shared-secrets to accept it.")
  }
}

/// An environment variable that holds a path; nil if it is unset or empty.
func environmentPath(_ name: String) -> LocalPath? {
  guard let value = shim_environment(name), value.pointee != 0 else { return nil }
  return LocalPath(cString: value)
}

extension LocalPath {
  /// The path followed by the text.
  func appending(_ text: String) -> LocalPath { LocalPath(bytes: bytes + Array(text.utf8)) }
}

/// An environment variable; nil if it is unset or empty.
func environment(_ name: String) -> String? { environmentBytes(name).map { String(decoding: $0, as: UTF8.self) } }

/// The same as bytes, because a password need not be UTF-8.
func environmentBytes(_ name: String) -> [UInt8]? {
  guard let value = shim_environment(name), value[0] != 0 else { return nil }
  var bytes: [UInt8] = []
  var index = 0
  while value[index] != 0 {
    bytes.append(UInt8(bitPattern: value[index]))
    index += 1
  }
  return bytes
}
