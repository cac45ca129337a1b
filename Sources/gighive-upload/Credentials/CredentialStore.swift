import CShims
import Uploader

/// Where the files with secrets are whose names a configuration file gives: systemd keeps them in `/etc/credstore` and passes a service
/// copies (`LoadCredential=`), in `$CREDENTIALS_DIRECTORY`.
enum CredentialStore {
  /// One that a configuration names and root can read.
  private struct Stored {
    let name: LocalPath
    let path: LocalPath
    /// Opened by root; -1 before that.
    var descriptor: Int32 = -1
  }
  nonisolated(unsafe) private static var stored: [Stored] = []

  /// The file of a relative name: what systemd has passed, what it would pass, or what is beside the configuration.
  static func path(of name: LocalPath, in configuration: LocalPath) -> LocalPath {
    let beside = configuration.directory.appendingName(name.bytes)
    let kept = path(inStore: name, configuration)
    let passed = passedDirectory?.appendingName(name.bytes)
    var unreadable: LocalPath?
    for path in [passed, kept].compactMap({ $0 }) {
      let descriptor = shim_open_for_reading(path.cName, 0)
      if descriptor >= 0 {
        _ = shim_close(descriptor)
        if path == kept, !stored.contains(where: { $0.path == path }) { stored.append(Stored(name: name, path: path)) }
        return path
      }
      if -descriptor != SHIM_ENOENT, unreadable == nil { unreadable = path }
    }
    guard let unreadable, shim_file_status(at: beside) == nil else { return beside }
    return unreadable
  }

  private static var passedDirectory: LocalPath? { environmentPath("CREDENTIALS_DIRECTORY") }

  /// Whether systemd has passed it to this service.
  static func isPassed(_ path: LocalPath) -> Bool { passedDirectory?.contains(path.bytes) ?? false }

  /// The command that has systemd pass these files again; nil if it has passed none of them.
  static func restartCommand(for files: [LocalPath]) -> String? {
    guard let directory = passedDirectory, files.contains(where: { isPassed($0) }) else { return nil }
    // /run/credentials/UNIT, or that of a user's own service.
    let unit = directory.lastComponent
    let isUsers = !directory.bytes.starts(with: "/run/credentials/".utf8)
    return "systemctl " + (isUsers ? "--user " : "") + "restart "
      + (unit.hasSuffix(".service") ? String(unit.dropLast(8)) : unit)
  }

  /// Opens the files in the store before root becomes another user. The configurations that name them are root's own.
  static func keep() {
    for index in stored.indices where stored[index].descriptor < 0 {
      stored[index].descriptor = shim_open_for_reading(stored[index].path.cName, 0)
    }
  }

  /// What was kept of a file; nil if nothing was. A record has the path of the service's copy, which is gone once the service has ended.
  static func descriptor(of path: LocalPath) -> Int32? {
    stored.first { $0.descriptor >= 0 && ($0.path == path || isCopy(path, of: $0.name)) }?.descriptor
  }

  private static func isCopy(_ path: LocalPath, of name: LocalPath) -> Bool {
    path.bytes.starts(with: "/run/credentials/".utf8) && path.lastComponentBytes.elementsEqual(name.bytes)
  }

  /// As the units have it: `/etc/credstore/NAME`, and `/etc/credstore/NAME-INSTANCE` for `/etc/gighive-upload/INSTANCE.conf`. No other
  /// configuration is of a service.
  private static func path(inStore name: LocalPath, _ configuration: LocalPath) -> LocalPath? {
    guard !name.bytes.contains(ASCII.slash) else { return nil }
    let path = LocalPath("/etc/credstore").appendingName(name.bytes)
    if configuration == "/etc/gighive-upload.conf" { return path }
    let file = configuration.lastComponentBytes
    let ending = ".conf".utf8
    guard configuration.directory == "/etc/gighive-upload", file.suffix(ending.count).elementsEqual(ending) else {
      return nil
    }
    return LocalPath(bytes: path.bytes + [ASCII.hyphen] + file.dropLast(ending.count))
  }
}
