import CShims
import Uploader

/// The directories whose changes the kernel reports.
final class InotifyWatches {
  /// Poll waits for it. Negative if there is none.
  let descriptor: Int32
  private var table = WatchTable()
  private(set) var hasLost = false
  private var changes: [WatchTable.Change] = []

  init() { descriptor = shim_inotify_create() }

  deinit { if descriptor >= 0 { _ = shim_close(descriptor) } }

  /// - Parameters:
  ///   - directory: what has this path, opened.
  ///   - isRoot: whether it was named, so that it may be a link.
  ///   - scan: a number for ``prune(_:before:)``.
  /// - Returns: 0, or -errno if it cannot be watched.
  func add(_ path: LocalPath, _ directory: OpenDirectory, owner: Int, isRoot: Bool, scan: Int) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    let number = shim_inotify_add(descriptor, directory.descriptor, path.cName, isRoot ? 1 : 0)
    if number < 0 { return number }
    if table.add(number, owner: owner, path: path, scan: scan) { return 0 }
    shim_inotify_remove(descriptor, number)
    return -SHIM_ENOMEM
  }

  /// Has changes of the name of `path` reported: that it was removed, or is there again.
  /// - Returns: whether that is possible.
  func addName(of path: LocalPath, owner: Int) -> Bool {
    guard descriptor >= 0 else { return false }
    let number = shim_inotify_add_names(descriptor, path.directory.cName)
    if number < 0 { return false }
    if table.add(number, owner: owner, nameOf: path) { return true }
    shim_inotify_remove(descriptor, number)
    return false
  }

  /// All paths of a file in a directory that is watched by more than one.
  func paths(of file: LocalPath) -> [LocalPath] {
    table.paths(of: file.directory).map { $0.appendingName(file.name.bytes) }
  }

  /// Ends the watches of directories that later scans have not found.
  func prune(_ owner: Int, before scan: Int) {
    for number in table.prune(owner, before: scan) { shim_inotify_remove(descriptor, number) }
  }

  func remove(of owner: Int) {
    for number in table.remove(of: owner) { shim_inotify_remove(descriptor, number) }
  }

  /// The changes since the last call. Those that the kernel has dropped are missing.
  func read() -> (changes: [WatchTable.Change], hasLost: Bool) {
    guard descriptor >= 0 else { return ([], false) }
    let visit: @convention(c) (Int32, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
      number, kind, name, context in
      guard let name, let context else { return }
      Unmanaged<InotifyWatches>.fromOpaque(context).takeUnretainedValue().handle(number, Int(kind), name)
    }
    // At most a few kilobytes at a time, so that nothing else has to wait.
    _ = shim_inotify_read(descriptor, visit, Unmanaged.passUnretained(self).toOpaque())
    defer {
      changes = []
      hasLost = false
    }
    return (changes, hasLost)
  }

  private func handle(_ number: Int32, _ kind: Int, _ name: UnsafePointer<CChar>) {
    if kind == SHIM_CHANGES_LOST {
      hasLost = true
      return
    }
    let event: WatchTable.Event =
      switch kind {
      case SHIM_CHANGED_SELF: .end
      case SHIM_CHANGED_DIRECTORY: .directory
      case SHIM_CHANGED_PERMISSIONS: .permissions
      case SHIM_NAME_REMOVED: .removal
      default: .file
      }
    changes += table.changes(of: number, event, name: LocalPath(cString: name).bytes)
    guard kind == SHIM_CHANGED_SELF else { return }
    table.remove(number)
    shim_inotify_remove(descriptor, number)
  }
}
