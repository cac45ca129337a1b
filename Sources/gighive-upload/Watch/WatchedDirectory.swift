import CShims
import Uploader

/// A directory that is watched, or waited for.
final class WatchedDirectory {
  let path: LocalPath
  var state = WatchSnapshot.Directory.State.missing
  /// Held as long as the directory is watched.
  private var lock: Int32 = -1
  private let roots: WatchedRoots
  /// Whether they have it.
  private var isRoot = false
  /// Whether it is reported when its name is removed, or there again.
  var hasWatchedName = false
  /// The files that are left alone, unless their upload has begun; nil for none.
  private(set) var existing: ExistingList?
  /// Whether other machines can write to it.
  private(set) var isShared = false
  /// Whether it could not be locked, although no other watcher has it.
  private(set) var isUnlocked = false
  /// Whether it was reported that the writers of its files cannot be detected.
  var hasToldBlindness = false
  var failures = ScanFailures()
  /// What was reported about it last, so that it is reported only once.
  var problem: DirectoryProblem?

  init(_ path: LocalPath, _ roots: WatchedRoots) {
    self.path = path
    self.roots = roots
    // The root of all directories has none.
    hasWatchedName = path.bytes.count <= 1
  }

  deinit { close() }

  var isOpen: Bool { lock >= 0 }

  var name: String { PrintableText.line(path.text) }

  /// nil if it is not known.
  var freeSpace: FreeSpace? { isOpen ? FreeSpace(at: path) : nil }

  func close() {
    if lock >= 0 {
      if !isRoot || roots.remove(lock) { shim_unlock(lock) }
      isRoot = false
      _ = shim_close(lock)
    }
    lock = -1
    existing = nil
    state = .missing
  }

  /// Whether the same directory is still at its path.
  var isThere: Bool {
    guard let now = shim_file_status(at: path), let opened = shim_file_status(of: lock) else { return false }
    return now.isSameFile(as: opened)
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
    guard let status = shim_file_status(of: lock), status.isDirectory else {
      return .unusable("it is not a directory")
    }
    guard arguments.statePath.relative(to: status) == nil else {
      return .unusable("the state directory " + PrintableText.line(arguments.statePath.text) + " is in it")
    }
    isShared = FileSystem.isShared(type: shim_file_system_type(lock))
    let locked = shim_lock(lock)
    if -locked == SHIM_EAGAIN {
      // Under another name, this watcher may have locked it.
      guard let own = roots.duplicate(status) else { return .locked }
      guard own >= 0 else { return .unusable(SystemError(result: own).text) }
      _ = shim_close(lock)
      lock = own
    }
    if -locked == SHIM_ENOENT { return .missing }
    // NFS cannot lock directories.
    isUnlocked = locked != 0 && -locked != SHIM_EAGAIN
    if roots.isBelowForeign(path) { return .locked }
    roots.add(lock)
    isRoot = true
    guard arguments.existing == .skip else { return nil }
    do throws(ExistingList.Problem) {
      existing = try ExistingList.openOrCreate(of: path, in: arguments.statePath)
      return nil
    } catch { return .unusable(error.text) }
  }
}

/// The scans of one directory: of everything, and of directories that have appeared in it. A few entries at a time.
final class DirectoryScan {
  private let root: LocalPath
  private let selection: FileSelection
  private var walk: DirectoryWalk?
  /// Directories that have appeared.
  private var pending: [LocalPath] = []
  private var isFullDue = false
  private var isFull = false
  /// Counts the scans of everything.
  private(set) var number = 0
  /// Called with each directory before it is read, and whether it is the root. Returns why it is not read; nil if it is.
  private let onEnter: (LocalPath, OpenDirectory, Bool) -> String?

  init(_ root: LocalPath, _ selection: FileSelection, onEnter: @escaping (LocalPath, OpenDirectory, Bool) -> String?) {
    self.root = root
    self.selection = selection
    self.onEnter = onEnter
  }

  var isDue: Bool { walk != nil || isFullDue || !pending.isEmpty }

  func request() { isFullDue = true }

  func request(_ directory: LocalPath) {
    if pending.contains(directory) || isFullDue { return }
    if pending.count < Limits.watchScanCount { pending.append(directory) } else { isFullDue = true }
  }

  func cancel() {
    walk = nil
    pending = []
    isFullDue = false
  }

  enum Step {
    case item(DirectoryWalk.Item)
    case ended(isFull: Bool)
    case nothing
  }

  func next() -> Step {
    if walk == nil {
      guard isDue else { return .nothing }
      // A full scan finds the others, too.
      isFull = isFullDue
      if isFull {
        pending = []
        number += 1
      }
      isFullDue = false
      let path = isFull ? root : pending.removeFirst()
      let begun = DirectoryWalk(root, from: path, selection, namesLength: Limits.watchNamesLength)
      begun.onEnter = { [root, onEnter] in onEnter($0, $1, $0 == root) }
      walk = begun
    }
    if let item = walk?.next() { return .item(item) }
    walk = nil
    return .ended(isFull: isFull)
  }
}

extension Limits {
  /// Directories that appeared and wait to be scanned; with more of them, everything is scanned.
  static let watchScanCount = 64
}
