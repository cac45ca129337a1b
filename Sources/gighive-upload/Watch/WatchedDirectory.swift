import CShims
import Uploader

/// A directory that is watched, or waited for.
final class WatchedDirectory {
  let path: LocalPath
  var state = WatchSnapshot.Directory.State.missing
  /// Held as long as the directory is watched.
  private var lock: Int32 = -1
  /// Files that have not changed since this time are left alone, in seconds since 1970; nil for none.
  private(set) var firstStart: Int64?
  /// Whether other machines can write to it.
  private(set) var isShared = false
  /// Whether it could not be locked, although no other watcher has it.
  private(set) var isUnlocked = false
  /// Whether it was reported that the writers of its files cannot be detected.
  var hasToldBlindness = false
  /// What was reported about it last, so that it is reported only once.
  var problem: DirectoryProblem?

  init(_ path: LocalPath) { self.path = path }

  deinit { close() }

  var isOpen: Bool { lock >= 0 }

  var name: String { PrintableText.line(path.text) }

  /// In bytes; nil if it is not known.
  var freeBytes: Int64? {
    let free = isOpen ? shim_free_space(path.cName) : -1
    return free < 0 ? nil : free
  }

  func close() {
    if lock >= 0 { _ = shim_close(lock) }
    lock = -1
    state = .missing
  }

  /// Whether the same directory is still at its path.
  var isThere: Bool {
    var (now, opened) = (shim_file_status(), shim_file_status())
    return shim_stat(path.cName, &now) == 0 && shim_fstat(lock, &opened) == 0
      && now.device == opened.device && now.inode == opened.inode
  }

  /// Opens and locks it.
  /// - Returns: why it is not watched; nil if it is.
  func open(_ arguments: WatchArguments) -> DirectoryProblem? {
    let descriptor = shim_open_for_reading(path.cName, 0)
    guard descriptor >= 0 else {
      let error = -descriptor
      return error == SHIM_ENOENT || error == SHIM_ENOTDIR || shim_is_disconnection(error) != 0
        ? .missing : .unusable(SystemError(code: error).text)
    }
    lock = descriptor
    let problem = prepare(arguments)
    if problem == nil { state = .watched } else { close() }
    return problem
  }

  private func prepare(_ arguments: WatchArguments) -> DirectoryProblem? {
    var status = shim_file_status()
    guard shim_fstat(lock, &status) == 0, Int(status.kind) == SHIM_KIND_DIRECTORY else {
      return .unusable("it is not a directory")
    }
    guard !WatchedDirectory.contains(arguments.statePath, status) else {
      return .unusable("the state directory " + PrintableText.line(arguments.statePath.text) + " is in it")
    }
    isShared = FileSystem.isShared(type: shim_file_system_type(lock))
    let locked = shim_lock(lock)
    if -locked == SHIM_EAGAIN { return .locked }
    // NFS cannot lock directories.
    isUnlocked = locked != 0
    guard arguments.existing == .skip else { return nil }
    return noteFirstStart(in: arguments.statePath)
  }

  /// Whether a path is a directory, or below it; as far as the path exists.
  static func contains(_ path: LocalPath, _ directory: shim_file_status) -> Bool {
    var path = path
    while true {
      var status = shim_file_status()
      if shim_stat(path.cName, &status) == 0, status.device == directory.device,
        status.inode == directory.inode
      {
        return true
      }
      guard path.bytes.count > 1 else { return false }
      path = path.directory
    }
  }

  // MARK: The first start

  /// The file with the time of the first start.
  private static func startFile(of path: LocalPath, in state: LocalPath) -> LocalPath {
    let key = WatchedFile.key(path.bytes, [])
    return state.appending("/watch-" + ASCII.hex((0..<8).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) }) + ".start")
  }

  /// When a directory was watched first with `--existing skip`, in seconds since 1970; nil if it was not, or by a clock that was ahead.
  static func firstStart(of path: LocalPath, in state: LocalPath) -> Int64? {
    let descriptor = shim_open_for_reading(startFile(of: path, in: state).cName, 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    let time = (try? SmallFile.read(descriptor, limit: 32)).flatMap { ASCII.decimal($0) }
    return time.map(isAhead) ?? true ? nil : time
  }

  /// Whether the time is in the future of a clock that is set.
  private static func isAhead(_ time: Int64) -> Bool {
    let now = shim_unix_seconds()
    return now >= Limits.builtOn && now < time
  }

  /// Notes the time again if the clock was ahead at the first start: new recordings would be taken for old ones.
  func correctFirstStart(in state: LocalPath) {
    if isOpen, let firstStart, WatchedDirectory.isAhead(firstStart) { _ = noteFirstStart(in: state) }
  }

  /// Reads the time of the first start with `--existing skip`, or notes it.
  private func noteFirstStart(in state: LocalPath) -> DirectoryProblem? {
    if let time = WatchedDirectory.firstStart(of: path, in: state) {
      firstStart = time
      return nil
    }
    let now = shim_unix_seconds()
    guard now >= Limits.builtOn else { return .waitingForClock }
    let file = WatchedDirectory.startFile(of: path, in: state)
    let descriptor = shim_open_for_writing(file.cName, Int32(SHIM_OPEN_CREATE))
    guard descriptor >= 0 else { return unusable(file, descriptor) }
    defer { _ = shim_close(descriptor) }
    let text = Array(String(now).utf8)
    var result = shim_set_length(descriptor, 0)
    if result == 0 { result = shim_write_at(descriptor, text, text.count, 0) }
    if result == 0 { result = shim_sync(descriptor) }
    if result == 0 { result = shim_sync_directory(state.cName) }
    guard result == 0 else { return unusable(file, result) }
    firstStart = now
    return nil
  }

  private func unusable(_ file: LocalPath, _ result: Int32) -> DirectoryProblem? {
    .unusable(PrintableText.line(file.text) + " cannot be written: " + SystemError(result: result).text)
  }
}
