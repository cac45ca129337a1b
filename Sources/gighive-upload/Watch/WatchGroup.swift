import CShims
import Uploader

struct OtherGroups {
  /// Whether recordings may be removed because space runs short.
  let mayClean: () -> Bool
  /// See ``WatchLoop/claim(_:for:)``. Asked before a file is removed, and when it is given to the worker, so that a `clean` that somebody
  /// else runs keeps it, too.
  let claim: ([UInt8]) -> Bool
  /// The events for which others send a file; nil if one of them cannot tell.
  let events: ([UInt8]) -> [String]?
}

/// A group of directories with its worker: carries out what its ``WatchMachine`` decides.
final class WatchGroup {
  let arguments: WatchArguments
  private(set) var machine: WatchMachine
  private let directories: WatchedDirectories
  private let inspector: FileInspector
  private let finder: UploadFinder
  private let tellOne: (WatchNotice) -> Void
  private var worker: WatchWorker?
  private let space: WatchSpace?
  private var setAsideList: SetAsideList
  /// Whether what is in it is known, and that it cannot be written was told.
  private var hasRemembered = false
  private var hasToldUnwritable = false
  /// When to scan all directories again (monotonic clock), and to check what is missing or wrong.
  private var scanAt: Int64 = 0
  private var checkAt: Int64 = 0
  private var credentialKeys: [UInt64] = []
  /// Groups with the same directories and the options before a reload, whose processes have not ended. Until then, this one sends nothing.
  private var predecessors: [WatchGroup] = []
  /// What was delivered since this was last asked.
  private var delivered: [[UInt8]] = []
  /// Whether something that is shown may have changed.
  private var hasChanged = true

  init(
    _ arguments: WatchArguments, _ finder: UploadFinder, _ inotify: InotifyWatches, _ roots: WatchedRoots,
    firstOwner: Int, seed: UInt64, tell: @escaping (WatchNotice) -> Void
  ) {
    self.arguments = arguments
    tellOne = tell
    machine = WatchMachine(arguments.settings, seed: seed)
    directories = WatchedDirectories(arguments, inotify, roots, firstOwner: firstOwner, tell: tell)
    inspector = FileInspector(arguments, finder)
    self.finder = finder
    space = WatchSpace(arguments, directories.all)
    setAsideList = SetAsideList(arguments)
  }

  // MARK: Reloads

  /// Ends what it does, where little is lost. Then ``hasEnded(now:)`` is true. Its directories are free at once.
  func retire() {
    directories.close()
    // Its successor has the list.
    hasRemembered = false
    worker?.finish()
    space?.end(atOnce: false)
  }

  var uploadCount: Int { machine.uploads.count }

  /// Sends nothing until these groups have ended, as far as they had one of its directories.
  func wait(for retired: [WatchGroup]) {
    predecessors = retired.filter { $0.arguments.directories.contains { arguments.directories.contains($0) } }
  }

  func noteEnd(of retired: WatchGroup) {
    predecessors.removeAll { $0 === retired }
    hasChanged = true
  }

  // MARK: What is shown

  private func tell(_ notice: WatchNotice) {
    hasChanged = true
    tellOne(notice)
  }

  var destination: String { arguments.sending.shownTarget }

  func takeChange() -> Bool {
    defer { hasChanged = false }
    return directories.takeChange() || hasChanged
  }

  func snapshot(now: Int64) -> WatchSnapshot.Group {
    let shown = directories.all.enumerated().map { index, directory in
      var shown = WatchSnapshot.Directory(path: directory.path.bytes)
      (shown.state, shown.freeBytes) = (directory.state, directory.freeSpace?.bytes)
      shown.isSpaceShort = space?.isShort(index) ?? false
      return shown
    }
    return machine.snapshot(
      destination: destination, shown, formerUploads: predecessors.flatMap { $0.machine.uploads }, now: now,
      unixSeconds: shim_unix_seconds())
  }

  func takeHistory() -> WatchHistory {
    machine.takeHistory(destination: destination, directories: arguments.directories)
  }

  func add(_ history: WatchHistory) { machine.add(history) }

  var openDirectoryNames: [String] { directories.all.filter { $0.isOpen }.map { $0.name } }

  /// - Returns: whether another watcher has locked one of them.
  func openDirectories() -> Bool {
    defer { recoverRemovals() }
    return directories.open()
  }

  /// Gives recordings their names back whose removal was interrupted.
  private func recoverRemovals() {
    StateDirectory.recoverRemovals(at: arguments.statePath) { [self] in tell(WatchNotice(.warning, $0, .warning)) }
  }

  // MARK: Changes

  /// Something has changed in one of its directories.
  func handle(_ change: WatchTable.Change, now: Int64) {
    guard let index = directories.index(of: change) else { return }
    space?.checkSoon()
    switch change.kind {
    case .gone:
      if change.path == directories.all[index].path { checkAt = now } else { machine.forget(under: change.path.bytes) }
    case .directory: directories.requestScan(of: change.path, in: index)
    case .permissions: directories.requestScan(ifFailed: change.path, in: index)
    case .name: checkAt = now
    case .nameEnded:
      directories.all[index].hasWatchedName = false
      checkAt = now
    case .file:
      var path = change.path.bytes
      if FileSelection.isSidecar(Array(change.path.lastComponentBytes)) {
        path.removeLast(FileSelection.sidecarEnding.utf8.count)
      }
      inspect(path, asksForWriters: false, now)
    }
  }

  /// Scans everything again, and retries at once what waits.
  func retryNow(now: Int64) {
    scanAt = now
    machine.retryEverything(now: now)
    proceed()
  }

  /// Continues its processes if a signal has stopped them.
  func proceed() {
    worker?.proceed()
    space?.proceed()
  }

  func rescan(now: Int64) { scanAt = now }

  func networkChanged(now: Int64) { machine.retryNow(now: now) }

  /// - Parameter passesKnown: whether a known file is not examined.
  private func inspect(_ path: [UInt8], asksForWriters: Bool, passesKnown: Bool = true, _ now: Int64) {
    guard let directory = directories.directory(of: path) else { return }
    let existing = machine.isTracked(path) ? nil : directory.existing
    let inspection = inspector.inspect(
      path, below: directory.path, asksForWriters: asksForWriters, existing: existing,
      isKnown: { passesKnown && machine.isKnown($0, at: path) })
    machine.noteInspection(path, inspection, now: now)
    hasChanged = true
    if inspector.takeBlindness(), let directory = directories.directory(of: path), !directory.hasToldBlindness {
      directory.hasToldBlindness = true
      tell(.undetectableWriters(path))
    }
  }

  func watches(_ path: [UInt8]) -> Bool { directories.directory(of: path) != nil }

  /// Makes sure that nothing removes a file before this group has delivered it too, if it sends it: an unfinished upload keeps it.
  /// - Returns: false if that is not possible now.
  func claim(_ path: [UInt8]) -> Bool {
    guard let directory = directories.directory(of: path) else {
      return !directories.hasUnwatched(LocalPath(bytes: path))
    }
    // As long as it is not known what was there, nothing is known to be wanted, or not to be.
    if arguments.existing == .skip, directory.existing == nil { return false }
    defer { inspector.forgetFileSystem() }
    return inspector.claim(path, below: directory.path, existing: directory.existing)
  }

  /// The event for which it sends a file; nil if there is an error in the description of the file.
  func event(of path: [UInt8]) -> String? {
    directories.directory(of: path).flatMap { inspector.request(path, below: $0.path)?.event }
  }

  /// A part that was sent for an event that no section names any more is of use for the one that this group names.
  private func redirect(_ path: [UInt8], below root: LocalPath, _ others: OtherGroups) {
    guard arguments.sending.isForGigHive, let request = inspector.request(path, below: root),
      let events = others.events(path)
    else { return }
    finder.redirect(request, unlessTo: events)
  }

  func takeDelivered() -> [[UInt8]] {
    defer { delivered = [] }
    return delivered
  }

  func noteDeliveryElsewhere(of path: LocalPath, now: Int64) {
    guard directories.directory(of: path.bytes) != nil else { return }
    machine.noteDeliveryElsewhere(of: path.bytes, now: now)
    space?.noteDelivery()
  }

  // MARK: The step

  /// Does what is possible without waiting.
  /// - Returns: when to come back at the latest (monotonic clock).
  func step(now: Int64, _ others: OtherGroups) -> Int64 {
    // Nor does an open directory keep its drive from being unmounted.
    defer { inspector.forgetFileSystem() }
    stepWorker(now, others)
    if now >= scanAt {
      scanAt = now + Limits.watchScanMilliseconds
      checkAt = now
      space?.checkSoon()
      directories.requestScans()
    }
    if now >= checkAt {
      checkAt = now + Limits.watchCheckMilliseconds
      let openCount = directories.openCount
      for directory in directories.check() { machine.forget(under: directory.bytes) }
      if directories.openCount > openCount { recoverRemovals() }
      checkCredentials(now)
    }
    noteBlock()
    machine.noteClock(unixSeconds: shim_unix_seconds(), now: now)
    recallSetAside(now)
    if directories.stepScans({ inspect($0.bytes, asksForWriters: false, now) }) { checkAt = now }
    let isFree = machine.block == nil || machine.block == .formerUpload
    for notice in stepSpace(now, mayClean: { isFree && others.mayClean() }, others) { tell(notice) }
    var until = min(act(now, others), space?.due ?? .max)
    for notice in machine.takeNotices() { tell(notice) }
    if machine.takeRescan() { scanAt = now }
    writeSetAside(now)
    until = min(until, setAsideList.due ?? .max)
    if directories.isScanning { return now }
    // inotify does not report that a card was mounted over a watched directory.
    return min(until, checkAt)
  }

  private func noteBlock() {
    let block = block
    guard block != machine.block else { return }
    let notice = WatchNotice(block, after: machine.block)
    machine.block = block
    hasChanged = true
    if let notice { tell(notice) }
  }

  // MARK: Over a restart

  /// What the last watcher has set aside is known before anything is sent.
  private func recallSetAside(_ now: Int64) {
    guard !hasRemembered, machine.block != .clock else { return }
    hasRemembered = true
    machine.remember(setAsideList.read(), now: now, unixSeconds: shim_unix_seconds())
    _ = machine.takeSetAsideChange()
  }

  private func writeSetAside(_ now: Int64) {
    guard hasRemembered else { return }
    if machine.takeSetAsideChange() { setAsideList.noteChange() }
    do throws(SystemError) {
      try setAsideList.write({ machine.setAsideMemories }, now: now)
    } catch {
      guard !hasToldUnwritable else { return }
      hasToldUnwritable = true
      let message = "what is set aside cannot be written to the state directory, and is tried again after a restart: "
      tell(WatchNotice(.warning, message + error.text + ".", .warning))
    }
  }

  private var block: WatchMachine.Block? {
    if shim_unix_seconds() < Limits.builtOn { return .clock }
    if let interface = arguments.interface, shim_interface_is_up(interface) == 0 { return .interface(interface) }
    if let process = stopped ?? predecessors.lazy.compactMap({ $0.stopped }).first { return .stopped(process: process) }
    return predecessors.isEmpty ? nil : .formerUpload
  }

  /// Its process that a signal has stopped.
  private var stopped: Int32? { worker?.stopped ?? space?.stopped }

  private func checkCredentials(_ now: Int64) {
    guard machine.awaitsCredentials else { return }
    let keys = arguments.credentialFiles.map { WatchFileKey.of($0) }
    if keys != credentialKeys { machine.credentialsChanged(now: now) }
    credentialKeys = keys
  }

  private func act(_ now: Int64, _ others: OtherGroups) -> Int64 {
    for _ in 0..<Limits.watchScanStep {
      switch machine.next(now: now) {
      case .inspect(let path): inspect(path, asksForWriters: true, now)
      case .inspectEvenIfKnown(let path): inspect(path, asksForWriters: true, passesKnown: false, now)
      case .offer(let path):
        inspect(path, asksForWriters: true, now)
        guard let directory = directories.directory(of: path), let task = machine.give(path) else { break }
        _ = others.claim(path)
        redirect(path, below: directory.path, others)
        worker?.give(path, below: directory.path, task)
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

  private func stepWorker(_ now: Int64, _ others: OtherGroups) {
    guard let worker else { return }
    let unixSeconds = shim_unix_seconds()
    let end = worker.step(mayRemove: others.claim) {
      machine.handle($0, now: now, unixSeconds: unixSeconds)
      if case .delivered = $0.kind {
        space?.noteDelivery()
        if let path = $0.path { delivered.append(path) }
      }
      hasChanged = true
    }
    guard let end else { return }
    self.worker = nil
    recoverRemovals()
    machine.workerEnded(end, now: now, unixSeconds: unixSeconds)
    hasChanged = true
  }

  private func stepSpace(_ now: Int64, mayClean: () -> Bool, _ others: OtherGroups) -> [WatchNotice] {
    guard let space else { return [] }
    let wasCleaning = space.isCleaning
    let notices = space.step(now: now, mayClean: mayClean, mayRemove: others.claim) {
      machine.handle($0, now: now, unixSeconds: shim_unix_seconds())
      hasChanged = true
    }
    // Before a recorder takes the name of a recording whose removal was interrupted.
    if wasCleaning, !space.isCleaning { recoverRemovals() }
    return notices
  }

  /// Whether recordings are being removed because space runs short.
  var isCleaning: Bool { space?.isCleaning ?? false }

  /// Whether none of its processes is running.
  private var isIdle: Bool { worker == nil && !isCleaning }

  /// The descriptors to poll before the next step.
  var waits: [shim_poll_entry] { (worker?.waits ?? []) + (space?.waits ?? []) }

  func end(atOnce: Bool) {
    worker?.end(atOnce: atOnce)
    space?.end(atOnce: atOnce)
  }

  /// Reads the last events of its processes, after they were asked to end. Their interruption is not reported.
  /// - Returns: whether they have ended.
  func hasEnded(now: Int64, _ others: OtherGroups) -> Bool {
    stepWorker(now, others)
    _ = stepSpace(now, mayClean: { false }, others)
    for notice in machine.takeNotices() where notice.kind == .delivered || notice.kind == .removed { tell(notice) }
    writeSetAside(.max)
    return isIdle
  }
}

extension Limits {
  /// How often everything is scanned, and how often a missing directory, the clock and the like are checked, in milliseconds.
  static let watchScanMilliseconds: Int64 = 300_000
  static let watchCheckMilliseconds: Int64 = 30_000
}
