import CShims
import Uploader

/// What a watcher leaves for `status`: in the state directory `watch/lock`, which the watcher keeps locked and which contains the path of
/// the file with its status. That file is in the runtime directory, which is usually in memory, or else beside the lock.
///
/// They have a directory of their own, because a change of a name in the state directory makes its index stale.
final class StatusFile {
  private let lock: LocalPath
  private let file: AtomicFile
  private var descriptor: Int32?
  var path: LocalPath { file.path }

  init(stateDirectory: LocalPath) {
    let directory = StatusFile.directory(in: stateDirectory)
    lock = StatusFile.lock(in: stateDirectory)
    file = AtomicFile(path: (StatusFile.runtimeDirectory ?? directory).appending("/status.json"), isForAll: false)
  }

  deinit { if let descriptor { _ = shim_close(descriptor) } }

  /// - Throws: why `status` will not find it.
  func write(_ text: String) throws(SystemError) {
    if descriptor == nil { descriptor = try taken() }
    guard descriptor != nil else { return }
    do throws(SystemError) { try file.replace(text) } catch {
      // What it says is not true any more.
      file.remove()
      throw error
    }
  }

  func remove() { if descriptor != nil { file.remove() } }

  /// - Returns: nil if another watcher with this state directory shows its status.
  private func taken() throws(SystemError) -> Int32? {
    guard let directory = lock.directory.cString, let name = lock.cString else { throw SystemError(code: SHIM_EINVAL) }
    let made = shim_make_directory(directory)
    guard made == 0 || -made == SHIM_EEXIST else { throw SystemError(result: made) }
    let descriptor = shim_open_for_writing(name, Int32(SHIM_OPEN_CREATE))
    guard descriptor >= 0 else {
      throw SystemError(code: Int(descriptor) == SHIM_NOT_REGULAR ? SHIM_EINVAL : -descriptor)
    }
    var result = shim_hold(descriptor)
    if -result == SHIM_EAGAIN || -result == SHIM_EACCES {
      _ = shim_close(descriptor)
      return nil
    }
    // The status of an earlier watcher must not be taken for that of this one.
    file.remove()
    if result == 0 { result = shim_set_length(descriptor, 0) }
    let path = (file.path.absolute ?? file.path).bytes
    if result == 0 { result = shim_write_at(descriptor, path, path.count, 0) }
    guard result == 0 else {
      _ = shim_close(descriptor)
      throw SystemError(result: result)
    }
    return descriptor
  }

  // MARK: Reading

  /// What the watcher of a state directory shows.
  /// - Throws: a state directory that cannot be read.
  static func read(in stateDirectory: LocalPath) throws(StateError) -> WatchStatus {
    let lock = lock(in: stateDirectory)
    let descriptor = shim_open_for_reading(lock.cName, 0)
    if -descriptor == SHIM_ENOENT { return WatchStatus(isWatching: false, watcher: nil) }
    guard descriptor >= 0 else { throw .unusable(lock, SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    let holder = shim_holder(descriptor)
    guard holder >= 0 else { throw .unusable(lock, SystemError(result: holder)) }
    guard holder > 0 else { return WatchStatus(isWatching: false, watcher: nil) }
    guard let path = try? SmallFile.read(descriptor, limit: Limits.pathLength), path.first == ASCII.slash else {
      return WatchStatus(isWatching: true, watcher: nil)
    }
    return WatchStatus(isWatching: true, watcher: contents(of: LocalPath(bytes: path)))
  }

  /// Whether a watcher runs that has this state directory.
  static func hasWatcher(in stateDirectory: LocalPath) -> Bool {
    (try? read(in: stateDirectory))?.isWatching ?? false
  }

  private static func contents(of file: LocalPath) -> JSONValue? {
    SmallFile.contents(of: file, limit: Limits.watchStatusLength).flatMap { try? JSONReader.read($0) }
  }

  // MARK: Names

  static func directory(in stateDirectory: LocalPath) -> LocalPath { stateDirectory.appending("/watch") }

  private static func lock(in stateDirectory: LocalPath) -> LocalPath {
    directory(in: stateDirectory).appending("/lock")
  }

  /// The first of the directories that systemd made for a service (RuntimeDirectory=).
  private static var runtimeDirectory: LocalPath? {
    guard let first = environmentPath("RUNTIME_DIRECTORY")?.bytes.prefix(while: { $0 != ASCII.colon }),
      first.first == ASCII.slash
    else { return nil }
    return LocalPath(bytes: Array(first))
  }
}

/// A small file that is replaced as a whole, so that its readers see either the previous or the new content. It is not synced, because
/// it is not needed after a power cut.
struct AtomicFile {
  let path: LocalPath
  /// Whether all users can read it, and not only its owner.
  let isForAll: Bool

  /// - Throws: why the previous content stays.
  func replace(_ text: String) throws(SystemError) {
    guard let name = path.cString, let temporary = path.appending(".new").cString else {
      throw SystemError(code: SHIM_EINVAL)
    }
    let descriptor = shim_open_for_writing(temporary, Int32(SHIM_OPEN_TRUNCATE))
    guard descriptor >= 0 else {
      throw SystemError(code: Int(descriptor) == SHIM_NOT_REGULAR ? SHIM_EINVAL : -descriptor)
    }
    var text = text
    var result = text.withUTF8 { shim_write_all(descriptor, $0.baseAddress, $0.count) }
    if result == 0, isForAll { result = shim_let_all_read(descriptor) }
    let closed = shim_close(descriptor)
    if result == 0 { result = closed }
    if result == 0 { result = shim_rename(temporary, name) }
    guard result == 0 else {
      _ = shim_unlink(temporary)
      throw SystemError(result: result)
    }
  }

  func remove() { _ = path.cString.map { shim_unlink($0) } }
}
