import CShims
import Uploader

struct ConfigurationSource {
  enum Origin {
    /// The command line: it must be there.
    case named
    /// The system's own, for all users: it need not be there, but must be readable.
    case system
    /// The user's own. A home directory that is not accessible, as after a change of the user, has none.
    case home
  }

  let path: LocalPath
  let origin: Origin

  var name: String { PrintableText.line(path.text) }

  /// - Returns: nil if there is no such file and none is required.
  func load() throws(UsageError) -> ConfigurationFile? {
    guard let bytes = try read() else { return nil }
    do throws(ConfigurationError) { return try ConfigurationFile(parsing: bytes) } catch {
      throw UsageError(name + (error.line.map { ":" + String($0) } ?? "") + ": " + ConfigurationSource.text(of: error))
    }
  }

  private func read() throws(UsageError) -> [UInt8]? {
    guard let cString = path.cString else { throw UsageError("a file name cannot contain a NUL.") }
    // A FIFO without a writer must not block.
    let descriptor = shim_open_for_reading(cString, 0)
    guard descriptor >= 0 else {
      if isAbsent(-descriptor) { return nil }
      throw failure(SystemError(result: descriptor))
    }
    defer { _ = shim_close(descriptor) }
    let status: shim_file_status
    do throws(SystemError) { status = try .of(descriptor) } catch { throw failure(error) }
    guard status.isRegular else { throw UsageError(name + " is not a regular file.") }
    guard shim_is_owned_by_root_or_user(descriptor) != 0 else {
      throw UsageError(name + " belongs to another user, who could change it; run chown on it.")
    }
    guard status.mode & 0o022 == 0 else {
      throw UsageError(name + " can be changed by other users; run chmod go-w on it.")
    }
    do throws(SystemError) {
      return try SmallFile.read(descriptor, limit: Limits.configurationLength)
    } catch { throw failure(error) }
  }

  private func isAbsent(_ error: Int32) -> Bool {
    switch origin {
    case .named: false
    case .system: error == SHIM_ENOENT
    case .home: error == SHIM_ENOENT || error == SHIM_EACCES
    }
  }

  private func failure(_ error: SystemError) -> UsageError {
    if case .named = origin { return UsageError(name + ": " + error.text + ".") }
    return UsageError(name + ": " + error.text + ". Use --config \"\" to skip it.")
  }

  static func text(of error: ConfigurationError) -> String {
    switch error.reason {
    case .fileTooLong(let limit): "the file is longer than " + String(limit) + " bytes."
    case .lineTooLong(let limit): "the line is longer than " + String(limit) + " bytes."
    case .tooManyLines(let limit): "the file has more than " + String(limit) + " lines."
    case .controlCharacter: "the line contains a control character."
    // It may be a secret.
    case .noValue: "the line has no \"=\"; write option = value."
    case .noName: "the name of the option is missing; write option = value."
    case .unclosedSection: "the section name does not end with \"]\"."
    case .sectionName(let name):
      "\"" + PrintableText.line(String(decoding: name, as: UTF8.self))
        + "\" is not a section name; use letters, digits, \"-\", \"_\" and \".\"."
    case .repeatedSection(let name): "there are two sections [" + PrintableText.line(name) + "]."
    case .watchSection: "[watch DIR] needs an absolute path, such as [watch /srv/rec]."
    }
  }
}
