import CShims
import Uploader

/// The directories of a group: opens them, has the kernel report their changes, and scans them.
final class WatchedDirectories {
  let all: [WatchedDirectory]
  private let arguments: WatchArguments
  private var scans: [DirectoryScan] = []
  private let inotify: InotifyWatches
  private let roots: WatchedRoots
  /// The number of the first one, for ``inotify``.
  private let firstOwner: Int
  private let tellOne: (WatchNotice) -> Void
  private var hasToldFewWatches = false
  private var hasChanged = false

  init(
    _ arguments: WatchArguments, _ inotify: InotifyWatches, _ roots: WatchedRoots, firstOwner: Int,
    tell: @escaping (WatchNotice) -> Void
  ) {
    self.arguments = arguments
    self.inotify = inotify
    self.roots = roots
    self.firstOwner = firstOwner
    tellOne = tell
    all = arguments.directories.map { WatchedDirectory($0, roots) }
    for index in all.indices {
      scans.append(
        // Until `close`.
        DirectoryScan(all[index].path, arguments.sending.selection) { [self] path, directory, isRoot in
          addWatch(path, directory, index, isRoot: isRoot)
        })
    }
  }

  /// Releases the locks, and everything else.
  func close() {
    for (index, directory) in all.enumerated() {
      directory.close()
      inotify.remove(of: firstOwner + index)
    }
    scans = []
  }

  func takeChange() -> Bool {
    defer { hasChanged = false }
    return hasChanged
  }

  private func tell(_ notice: WatchNotice) {
    hasChanged = true
    tellOne(notice)
  }

  // MARK: Opening

  /// Opens what can be opened.
  /// - Returns: whether another watcher has locked one of them.
  func open() -> Bool {
    var isLocked = false
    // First, so that no change is missed.
    for index in all.indices where !all[index].hasWatchedName {
      all[index].hasWatchedName = inotify.addName(of: all[index].path, owner: firstOwner + index)
    }
    for index in all.indices where !all[index].isOpen {
      if let problem = all[index].open(arguments) {
        note(problem, index)
        if problem == .locked { isLocked = true }
      } else {
        noteOpening(index)
      }
    }
    return isLocked
  }

  var openCount: Int { all.reduce(0) { $1.isOpen ? $0 + 1 : $0 } }

  private func noteOpening(_ index: Int) {
    let directory = all[index]
    if directory.problem != nil { tell(.found(directory.path)) }
    directory.problem = nil
    if directory.isUnlocked { tell(.unlocked(directory.path)) }
    if directory.isShared {
      directory.state = .scanned
      tell(.shared(directory.path))
    }
    scans[index].request()
    hasChanged = true
  }

  /// Reports a problem once.
  private func note(_ problem: DirectoryProblem, _ index: Int) {
    let directory = all[index]
    directory.state = problem.state
    // That it is still missing is no news.
    guard directory.problem != problem, directory.problem != .gone || problem != .missing else { return }
    directory.problem = problem
    tell(problem.notice(of: directory.path))
  }

  private func noteFailure(_ path: LocalPath, _ reason: String, _ index: Int) {
    let directory = all[index]
    switch directory.failures.note(path, reason, scan: scans[index].number) {
    case .known: break
    case .new: tell(.incomplete(directory.path, path, reason))
    case .tooMany: tell(.manyFailures(directory.path))
    }
  }

  private func endFullScan(_ index: Int) {
    inotify.prune(firstOwner + index, before: scans[index].number)
    all[index].failures.scanEnded(scans[index].number)
  }

  /// Closes what is gone, and opens what is there.
  /// - Returns: those that are gone.
  func check() -> [LocalPath] {
    var gone: [LocalPath] = []
    for index in all.indices where all[index].isOpen && !all[index].isThere {
      all[index].close()
      scans[index].cancel()
      inotify.prune(firstOwner + index, before: .max)
      note(.gone, index)
      gone.append(all[index].path)
    }
    _ = open()
    return gone
  }

  /// - Returns: why the directory is left alone; nil if it is not.
  private func addWatch(_ path: LocalPath, _ directory: OpenDirectory, _ index: Int, isRoot: Bool) -> String? {
    if !isRoot, roots.isForeign(directory) { return "is watched by another process" }
    all[index].existing?.noteEntering(path)
    let result = inotify.add(path, directory, owner: firstOwner + index, isRoot: isRoot, scan: scans[index].number)
    // A directory that no longer exists needs no watch.
    if result == 0 || [SHIM_ENOENT, SHIM_ENOTDIR, SHIM_EACCES, SHIM_ELOOP].contains(-result) { return nil }
    all[index].state = .scanned
    if hasToldFewWatches { return nil }
    hasToldFewWatches = true
    tell(.fewWatches(path, SystemError(result: result).text))
    return nil
  }

  // MARK: Which one

  /// The one in which something has changed; nil if it belongs to another group.
  func index(of change: WatchTable.Change) -> Int? {
    let index = change.owner - firstOwner
    return all.indices.contains(index) ? index : nil
  }

  func directory(of path: [UInt8]) -> WatchedDirectory? {
    all.filter { $0.path.contains(path) }.max { $0.path.bytes.count < $1.path.bytes.count }
  }

  /// Whether one of them that cannot be watched now has a file under another name.
  func hasUnwatched(_ file: LocalPath) -> Bool {
    all.contains { directory in
      guard !directory.isOpen, let status = shim_file_status(at: directory.path) else { return false }
      return file.directory.relative(to: status) != nil
    }
  }

  // MARK: Scans

  func requestScans() { for (directory, scan) in zip(all, scans) where directory.isOpen { scan.request() } }

  /// Scans a directory that has appeared in one of them.
  func requestScan(of directory: LocalPath, in index: Int) {
    if FileSelection.takes(directory: Array(directory.lastComponentBytes)) { scans[index].request(directory) }
  }

  /// Scans a directory that could not be scanned before, and has other permissions now. Of other directories, these do not matter.
  func requestScan(ifFailed directory: LocalPath, in index: Int) {
    if all[index].failures.contains(directory) { scans[index].request(directory) }
  }

  var isScanning: Bool { scans.contains { $0.isDue } }

  /// Scans a part.
  /// - Parameter found: called with each file.
  /// - Returns: whether one of them may be gone.
  func stepScans(_ found: (LocalPath) -> Void) -> Bool {
    var mayBeGone = false
    for (index, scan) in scans.enumerated() {
      for _ in 0..<Limits.watchScanStep {
        switch scan.next() {
        case .item(.file(let path)): found(path)
        case .item(.failure(let path, let reason)):
          // It may have been removed just now.
          if path == all[index].path { mayBeGone = true } else { noteFailure(path, reason, index) }
        case .ended(let isFull): if isFull { endFullScan(index) }
        case .nothing: break
        }
        if !scan.isDue { break }
      }
    }
    return mayBeGone
  }
}

/// The directories that this watcher has locked. Another watcher, which may have another state directory, must not watch one of those above or
/// below: it would send the same recordings.
final class WatchedRoots {
  private var all: [(descriptor: Int32, status: shim_file_status)] = []

  /// - Parameter descriptor: that of a directory that was locked.
  func add(_ descriptor: Int32) {
    if let status = shim_file_status(of: descriptor) { all.append((descriptor, status)) }
  }

  /// - Returns: whether no other name of the directory needs the lock.
  func remove(_ descriptor: Int32) -> Bool {
    guard let index = all.firstIndex(where: { $0.descriptor == descriptor }) else { return true }
    let status = all.remove(at: index).status
    return !all.contains { $0.status.isSameFile(as: status) }
  }

  /// Another descriptor with the lock of a directory, or the negative error; nil if this watcher has not locked it.
  func duplicate(_ directory: shim_file_status) -> Int32? {
    all.first { $0.status.isSameFile(as: directory) }.map { shim_duplicate($0.descriptor) }
  }

  /// Whether another watcher has locked a directory. One that cannot be read is not its.
  func isForeign(_ directory: OpenDirectory) -> Bool {
    let descriptor = directory.open(".")
    guard descriptor >= 0 else { return false }
    defer { _ = shim_close(descriptor) }
    return isForeign(descriptor)
  }

  func isForeign(_ descriptor: Int32) -> Bool {
    guard shim_is_locked(descriptor) != 0, let status = shim_file_status(of: descriptor) else { return false }
    return !all.contains { $0.status.isSameFile(as: status) }
  }

  /// Whether another watcher has locked a directory above this one. One that cannot be read is passed.
  func isBelowForeign(_ directory: LocalPath) -> Bool {
    var path = directory
    var last = shim_file_status()
    for _ in 0..<Limits.directoryDepth {
      path = path.appending("/..")
      // The one above the root of all is that itself.
      guard let status = shim_file_status(at: path), !status.isSameFile(as: last) else { return false }
      last = status
      let descriptor = shim_open_for_reading(path.cName, 0)
      guard descriptor >= 0 else { continue }
      defer { _ = shim_close(descriptor) }
      if isForeign(descriptor) { return true }
    }
    return false
  }
}
