import CShims
import Uploader

/// The owner of the state directory. A command that root runs becomes that user before it opens a record. So it reads, moves and removes only
/// what this user could, whatever a record names, and the service can use the new records.
enum StateOwner {
  static let beganAsRoot = shim_is_root() != 0
  /// Who root's process has become, for messages; nil if it has not.
  nonisolated(unsafe) private(set) static var user: String?
  /// Why a permission is missing that root has; nil if that is not why.
  static var explanation: String? { user.map { "This runs as " + $0 + "; --state-dir chooses another one." } }
  /// Where a configuration file names the state directory, such as "FILE:12: "; nil if none does.
  nonisolated(unsafe) private static var place: String?
  /// What to do if this user may not use the state directory.
  static var permissionAdvice: String {
    if let explanation { return explanation }
    guard let place else { return "Choose another one with --state-dir." }
    return place + "state-dir names it. Use sudo, or choose another one with --state-dir."
  }

  /// Does nothing more unless the process is root's and the directory is another user's. Ends the process if that fails.
  /// - Parameter keepsSecrets: whether secrets that only root can read are still needed. The processes of a watcher could not read them.
  static func become(for common: CommonArguments, keepsSecrets: Bool = true) {
    place = common.statePlace
    guard beganAsRoot, shim_is_root() != 0, let path = common.statePath?.absolute else { return }
    if keepsSecrets { CredentialStore.keep() }
    guard let owner = owner(of: path) else { return }
    var name = [CChar](repeating: 0, count: 64)
    let result = shim_become(owner.user, owner.group, &name, name.count)
    let found = PrintableText.line(LocalPath(cString: name).text)
    let text =
      "the user " + (found.isEmpty ? "" : found + " ") + "(UID " + String(owner.user) + "), to whom "
      + (owner.directory == path ? "the state directory " : "") + PrintableText.line(owner.directory.text) + " belongs"
    guard result == 0 else {
      Report(common, progress: .none).failed(
        "cannot work as " + text + ": " + SystemError(result: result).text + ".", exitCode: ExitCode.stateDirectory)
      shim_exit(Console.finish(ExitCode.stateDirectory))
    }
    user = text
  }

  /// Who can write records: the directory's owner. One that is root's, or not there yet, can be replaced by the owner of the first directory
  /// above it that is not root's. nil if only root can.
  private static func owner(of path: LocalPath) -> (directory: LocalPath, user: UInt32, group: UInt32)? {
    var found: (directory: LocalPath, user: UInt32, group: UInt32)?
    let ends = path.bytes.indices.dropFirst().filter { path.bytes[$0] == ASCII.slash } + [path.bytes.count]
    for end in ends {
      let directory = LocalPath(bytes: Array(path.bytes[..<end]))
      var (user, group): (UInt32, UInt32) = (0, 0)
      // There is nothing below what cannot be looked at.
      guard shim_owner(directory.cName, &user, &group) == 0 else { break }
      if user != 0, found == nil || directory == path { found = (directory, user, group) }
    }
    return found
  }
}
