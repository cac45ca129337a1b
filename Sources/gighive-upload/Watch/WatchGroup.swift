import CShims
import Uploader

/// A group of directories with its worker: carries out what its ``WatchMachine`` decides.
final class WatchGroup {
  let arguments: WatchArguments
  private(set) var machine: WatchMachine
  let directories: [WatchedDirectory]
  private var scans: [DirectoryScan] = []
  private let look: FileInspector
  let inotify: InotifyWatches
  /// The number of the first directory, for ``inotify``.
  private let firstOwner: Int
  private let tellOne: (WatchNotice) -> Void
  private var worker: WatchWorker?
  private let space: WatchSpace?
  /// When to scan all directories again (monotonic clock), and to check what is missing or wrong.
  private var scanAt: Int64 = 0
  private var lookAt: Int64 = 0
  private var credentialKeys: [UInt64] = []
  private var hasSaidBlind = false
  private var hasSaidFewWatches = false
  /// Whether something that is shown may have changed.
  private var hasChanged = true

  init(
    _ arguments: WatchArguments, _ finder: UploadFinder, _ inotify: InotifyWatches, firstOwner: Int, seed: UInt64,
    tell: @escaping (WatchNotice) -> Void
  ) {
    self.arguments = arguments
    self.inotify = inotify
    self.firstOwner = firstOwner
    tellOne = tell
    machine = WatchMachine(arguments.settings, seed: seed)
    directories = arguments.directories.map { WatchedDirectory($0) }
    look = FileInspector(arguments, finder)
    space = WatchSpace(arguments, directories)
    for index in directories.indices {
      scans.append(
        // Until `close`.
        DirectoryScan(directories[index].path, arguments.sending.selection) { [self] path, isRoot in
          addWatch(path, index, isRoot: isRoot)
        })
    }
  }

  /// Releases the locks, and everything else.
  func close() {
    for directory in directories { directory.close() }
    scans = []
  }

  func tell(_ notice: WatchNotice) {
    hasChanged = true
    tellOne(notice)
  }

  var destination: String { PrintableText.withoutQuery(arguments.sending.target.text) }

  func takeChange() -> Bool {
    defer { hasChanged = false }
    return hasChanged
  }

  func snapshot(now: Int64) -> WatchSnapshot.Group {
    let shown = directories.indices.map { index in
      var shown = WatchSnapshot.Directory(path: directories[index].path.bytes)
      (shown.state, shown.freeBytes) = (directories[index].state, directories[index].freeBytes)
      shown.isSpaceShort = space?.isShort(index) ?? false
      return shown
    }
    return machine.snapshot(destination: destination, shown, now: now, unixSeconds: shim_unix_seconds())
  }

  // MARK: Directories

  /// Opens what can be opened.
  /// - Returns: the directory that another watcher has locked; nil if there is none.
  func openDirectories() -> WatchedDirectory? {
    var busy: WatchedDirectory?
    for index in directories.indices where !directories[index].isOpen {
      let directory = directories[index]
      switch directory.open(arguments) {
      case .opened: opened(directory, scans[index])
      case .missing:
        say(directory, .missing, .directoryMissing, " does not exist; it will be watched once it appears.")
      case .unusable(let problem):
        say(directory, .unreadable(problem), .directoryMissing, " cannot be watched: " + problem + ".")
      case .conflict:
        say(
          directory, .unreadable("another watcher has locked it"), .directoryMissing, " is watched by another process.")
        busy = busy ?? directory
      case .waitingForClock:
        say(directory, .missing, .warning, " is not watched until the clock of this machine is set.")
      }
    }
    return busy
  }

  private func opened(_ directory: WatchedDirectory, _ scan: DirectoryScan) {
    if !directory.told.isEmpty {
      tell(WatchNotice(.directoryFound, directory.name + " is being watched now.", path: directory.path.bytes))
    }
    directory.told = ""
    if directory.isUnlocked {
      tell(
        WatchNotice(.warning, directory.name + " cannot be locked; make sure that no other watcher uses it.", .warning))
    }
    if directory.isShared {
      directory.state = .scanned
      tell(
        WatchNotice(
          .warning,
          directory.name + " is on a shared file system; changes by other machines are found within five minutes.",
          .warning))
    }
    scan.request()
    hasChanged = true
  }

  /// Reports a problem with a directory, once.
  private func say(
    _ directory: WatchedDirectory, _ state: WatchSnapshot.Directory.State, _ kind: WatchNotice.Kind, _ words: String
  ) {
    directory.state = state
    guard directory.told != words else { return }
    directory.told = words
    tell(WatchNotice(kind, directory.name + words, .warning, path: directory.path.bytes))
  }

  private func checkDirectories() {
    for index in directories.indices where directories[index].isOpen && !directories[index].isThere {
      let directory = directories[index]
      directory.close()
      scans[index].cancel()
      inotify.prune(firstOwner + index, before: .max)
      machine.forget(under: directory.path.bytes)
      say(directory, .missing, .directoryMissing, " is gone; it will be watched again once it is back.")
    }
    for directory in directories { directory.correctFirstStart(in: arguments.statePath) }
    _ = openDirectories()
  }

  private func addWatch(_ path: LocalPath, _ index: Int, isRoot: Bool) {
    let result = inotify.add(path, owner: firstOwner + index, isRoot: isRoot, scan: scans[index].number)
    // A directory that no longer exists needs no watch.
    if result == 0 || [SHIM_ENOENT, SHIM_ENOTDIR, SHIM_EACCES, SHIM_ELOOP].contains(-result) { return }
    directories[index].state = .scanned
    if hasSaidFewWatches { return }
    hasSaidFewWatches = true
    tell(
      WatchNotice(
        .warning,
        "not all directories can be watched (" + SystemError(result: result).text
          + "): changes in the others are found within five minutes. The limit is fs.inotify.max_user_watches.",
        .warning, path: path.bytes))
  }

  /// The directory that a path is in.
  private func directory(of path: [UInt8]) -> WatchedDirectory? {
    directories.filter { path.starts(with: $0.path.bytes) }.max { $0.path.bytes.count < $1.path.bytes.count }
  }

  // MARK: Changes

  /// Something has changed in one of its directories.
  func handle(_ change: InotifyWatches.Change, now: Int64) {
    let index = change.owner - firstOwner
    guard directories.indices.contains(index) else { return }
    space?.lookSoon()
    switch change.kind {
    case .gone: if change.path == directories[index].path { lookAt = now }
    case .directory:
      if FileSelection.takes(directory: Array(change.path.lastComponentBytes)) { scans[index].request(change.path) }
    case .file:
      var path = change.path.bytes
      if FileSelection.isSidecar(Array(change.path.lastComponentBytes)) {
        path.removeLast(FileSelection.sidecarEnding.utf8.count)
      }
      see(path, asksForWriters: false, isNew: path == change.path.bytes, now)
    }
  }

  /// Scans everything again, and retries at once what waits.
  func retryNow(now: Int64) {
    scanAt = now
    machine.retryNow(now: now)
    machine.credentialsChanged(now: now)
  }

  func rescan(now: Int64) { scanAt = now }

  func networkChanged(now: Int64) { machine.retryNow(now: now) }

  func drain() { machine.drain() }

  /// - Parameters:
  ///   - passesKnown: whether a known file needs no look.
  ///   - isNew: whether it has just been written, whatever the clock said then.
  private func see(
    _ path: [UInt8], asksForWriters: Bool, passesKnown: Bool = true, isNew: Bool = false, _ now: Int64
  ) {
    var firstStart = isNew ? nil : directory(of: path)?.firstStart
    if firstStart != nil, machine.isTracked(path) { firstStart = nil }
    let sight = look.look(
      path, asksForWriters: asksForWriters, firstStart: firstStart,
      isKnown: { passesKnown && machine.isKnown($0, at: path) })
    machine.saw(path, sight, now: now)
    hasChanged = true
    if look.takeBlindness(), !hasSaidBlind {
      hasSaidBlind = true
      tell(
        WatchNotice(
          .warning,
          "cannot detect whether a file is still being written (on network file systems, and without CAP_LEASE for files "
            + "of other users): files are sent once they have not changed for five minutes.", .warning,
          path: path))
    }
  }

  // MARK: The step

  /// Does what is possible without waiting.
  /// - Parameter mayClean: whether recordings may be removed because space runs short.
  /// - Returns: when to come back at the latest (monotonic clock).
  func step(now: Int64, mayClean: Bool) -> Int64 {
    look.forgetFileSystem()
    stepWorker(now)
    if now >= scanAt {
      scanAt = now + Limits.watchScanMilliseconds
      lookAt = now
      space?.lookSoon()
      for (directory, scan) in zip(directories, scans) where directory.isOpen { scan.request() }
    }
    if now >= lookAt {
      lookAt = now + Limits.watchLookMilliseconds
      checkDirectories()
      checkCredentials(now)
    }
    noteBlock()
    let isScanning = stepScans(now)
    for notice in stepSpace(now, mayClean: mayClean && machine.block == nil) { tell(notice) }
    let until = min(act(now), space?.due ?? .max)
    for notice in machine.takeNotices() { tell(notice) }
    if machine.takeRescan() { scanAt = now }
    if isScanning { return now }
    let isWaiting = machine.block != nil || machine.awaitsCredentials || directories.contains { !$0.isOpen }
    return min(until, isWaiting ? lookAt : scanAt)
  }

  private func noteBlock() {
    let block = block
    guard block != machine.block else { return }
    machine.block = block
    switch block {
    case .clock: tell(WatchNotice(.warning, "nothing is sent until the clock of this machine is set.", .warning))
    case .interface(let name):
      tell(WatchNotice(.warning, "nothing is sent until " + PrintableText.line(name) + " is up.", .warning))
    case nil: tell(WatchNotice(.resumed, "recordings are sent again."))
    }
  }

  private var block: WatchMachine.Block? {
    if shim_unix_seconds() < Limits.builtOn { return .clock }
    if let interface = arguments.interface, shim_interface_is_up(interface) == 0 { return .interface(interface) }
    return nil
  }

  private func checkCredentials(_ now: Int64) {
    guard machine.awaitsCredentials else { return }
    let keys = arguments.credentialFiles.map { WatchFileKey.of($0) }
    if keys != credentialKeys { machine.credentialsChanged(now: now) }
    credentialKeys = keys
  }

  /// - Returns: whether there is more to scan.
  private func stepScans(_ now: Int64) -> Bool {
    for (index, scan) in scans.enumerated() {
      for _ in 0..<Limits.watchScanStep {
        switch scan.next() {
        case .item(.file(let path)): see(path.bytes, asksForWriters: false, now)
        case .item(.failure(let path, let problem)):
          if path == directories[index].path {
            // It may have been removed just now.
            lookAt = now
          } else {
            say(
              directories[index], directories[index].state, .warning,
              " was not scanned completely: " + PrintableText.line(path.text) + " " + problem + ".")
          }
        case .ended(let isFull): if isFull { inotify.prune(firstOwner + index, before: scan.number) }
        case .nothing: break
        }
        if !scan.isDue { break }
      }
    }
    return scans.contains { $0.isDue }
  }

  private func act(_ now: Int64) -> Int64 {
    for _ in 0..<Limits.watchScanStep {
      switch machine.next(now: now) {
      case .look(let path): see(path, asksForWriters: true, now)
      case .lookAgain(let path): see(path, asksForWriters: true, passesKnown: false, now)
      case .offer(let path):
        see(path, asksForWriters: true, now)
        if machine.give(path) { worker?.give(path) }
      case .startWorker: startWorker(now)
      case .closeInput:
        worker?.closeInput()
        machine.inputClosed()
      case .wait(let until): return until
      }
      hasChanged = true
    }
    return now
  }

  // MARK: The worker

  private func startWorker(_ now: Int64) {
    credentialKeys = arguments.credentialFiles.map { WatchFileKey.of($0) }
    do throws(SystemError) {
      worker = try WatchWorker(arguments.workerArguments)
      machine.workerStarted()
    } catch {
      machine.workerFailed(
        "the upload process could not be started: " + error.text + ".", now: now, unixSeconds: shim_unix_seconds())
    }
  }

  private func stepWorker(_ now: Int64) {
    guard let worker else { return }
    let unixSeconds = shim_unix_seconds()
    let end = worker.step {
      machine.handle($0, now: now, unixSeconds: unixSeconds)
      if case .delivered = $0.kind { space?.noteDelivery() }
      hasChanged = true
    }
    guard let end else { return }
    self.worker = nil
    machine.workerEnded(end, now: now, unixSeconds: unixSeconds)
    hasChanged = true
  }

  private func stepSpace(_ now: Int64, mayClean: Bool) -> [WatchNotice] {
    guard let space else { return [] }
    return space.step(now: now, mayClean: mayClean) {
      machine.handle($0, now: now, unixSeconds: shim_unix_seconds())
      hasChanged = true
    }
  }

  /// Whether recordings are being removed because space runs short.
  var isCleaning: Bool { space?.isCleaning ?? false }

  /// Whether none of its processes is running.
  var isIdle: Bool { worker == nil && !isCleaning }

  /// What it must be woken for.
  var waits: [shim_poll_entry] { (worker?.waits ?? []) + (space?.waits ?? []) }

  /// - Parameter atOnce: with SIGKILL.
  func end(atOnce: Bool) {
    worker?.end(atOnce: atOnce)
    space?.end(atOnce: atOnce)
  }

  /// Reads the last events of its processes, after they were asked to end. Their interruption is not reported.
  /// - Returns: whether they have ended.
  func hasEnded(now: Int64) -> Bool {
    stepWorker(now)
    _ = stepSpace(now, mayClean: false)
    for notice in machine.takeNotices() where notice.kind == .delivered || notice.kind == .removed { tell(notice) }
    return isIdle
  }
}
