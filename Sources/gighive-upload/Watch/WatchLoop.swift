import CShims
import Uploader

/// Watches until a signal ends it. The only loop of the watcher: it opens no connection.
final class WatchLoop {
  private let given: [GivenOption]
  private let operands: Operands
  private let finder: UploadFinder
  private let outputs: WatchOutputs
  private let signals: Cancellation
  /// The first group's, when the watcher started.
  private var started: WatchArguments?
  private var groups: [WatchGroup] = []
  /// Groups whose options are no longer in force, and whose processes have not ended.
  private var retired: [WatchGroup] = []
  private let inotify = InotifyWatches()
  private let roots = WatchedRoots()
  /// The number of the next directory.
  private var nextOwner = 0
  /// Changes of the network; -1 while nothing waits for them.
  private var network: Int32 = -1
  /// When to try again after one (monotonic clock).
  private var networkAt = Int64.max
  private var startedAt = shim_unix_seconds()
  private let startedAtMonotonic = shim_monotonic_milliseconds()

  init(
    _ given: [GivenOption], _ operands: Operands, _ finder: UploadFinder, _ outputs: WatchOutputs,
    _ signals: Cancellation
  ) {
    self.given = given
    self.operands = operands
    self.finder = finder
    self.outputs = outputs
    self.signals = signals
  }

  /// Begins to watch.
  /// - Returns: whether another watcher has locked one of the directories.
  func begin(_ arguments: [WatchArguments]) -> Bool {
    var isLocked = false
    started = arguments[0]
    for arguments in arguments {
      let group = makeGroup(arguments)
      groups.append(group)
      if group.openDirectories() { isLocked = true }
    }
    return isLocked
  }

  private func makeGroup(_ arguments: WatchArguments) -> WatchGroup {
    var seed: UInt64 = 0
    _ = withUnsafeMutableBytes(of: &seed) { shim_random($0.baseAddress, $0.count) }
    defer { nextOwner += arguments.directories.count }
    return WatchGroup(
      arguments, finder, inotify, roots, firstOwner: nextOwner, seed: seed, tell: { [outputs] in outputs.tell($0) })
  }

  func run() {
    var user = shim_is_root() != 0 ? " This runs as root; a user of its own is enough." : ""
    for group in groups {
      let names = group.openDirectoryNames.joined(separator: ", ")
      let isLiveInVain = group.arguments.sending.isLive && group.arguments.settings.live == nil
      outputs.tell(
        WatchNotice(
          .started,
          (names.isEmpty ? "started" : "watching " + names) + "; uploading to "
            + PrintableText.line(group.destination) + "."
            + (isLiveInVain ? " This server joins no parts: recordings are sent when they have ended." : "") + user))
      user = ""
    }
    while true {
      // First: what comes from now on raises it again, so that nothing is missed between a look at the flags and the next poll.
      shim_event_lower(signals.descriptor)
      if shim_signal_received() != 0 { break }
      let now = shim_monotonic_milliseconds()
      readSignals(now)
      readChanges(now)
      readNetwork(now)
      stepRetired(now)
      var until = networkAt
      for group in groups {
        let next = group.step(now: now, others(than: group))
        until = min(until, next)
        if tellOthers(of: group, now) { until = now }
      }
      show(now)
      poll(until)
    }
    end()
  }

  // MARK: Directories of several groups

  private func others(than group: WatchGroup) -> OtherGroups {
    OtherGroups(
      mayClean: { self.mayClean }, claim: { self.claim($0, for: group) }, events: { self.events(of: $0, for: group) })
  }

  /// The events for which other groups send a file.
  /// - Returns: nil if one of them cannot tell.
  private func events(of path: [UInt8], for group: WatchGroup) -> [String]? {
    var events: [String] = []
    for path in inotify.paths(of: LocalPath(bytes: path)) {
      for other in groups where other !== group && other.watches(path.bytes) {
        guard let event = other.event(of: path.bytes) else { return nil }
        events.append(event)
      }
    }
    return events
  }

  /// All other groups that are to send a file make sure that it stays until they have, by whichever path they know it.
  /// - Returns: false if one of them cannot do so now, or the path is none of the group's.
  private func claim(_ path: [UInt8], for group: WatchGroup) -> Bool {
    guard group.watches(path) else { return false }
    let paths = inotify.paths(of: LocalPath(bytes: path))
    return groups.allSatisfy { other in other === group || paths.allSatisfy { other.claim($0.bytes) } }
  }

  /// Whether recordings may be removed because space is short. Two that do so at the same time would remove too much.
  private var mayClean: Bool { !(groups + retired).contains { $0.isCleaning } }

  /// What the group has delivered may be removed by others now.
  /// - Returns: whether there was anything.
  private func tellOthers(of group: WatchGroup, _ now: Int64) -> Bool {
    let delivered = group.takeDelivered()
    guard groups.count > 1, !delivered.isEmpty else { return false }
    for path in delivered.flatMap({ inotify.paths(of: LocalPath(bytes: $0)) }) {
      for other in groups where other !== group { other.noteDeliveryElsewhere(of: path, now: now) }
    }
    return true
  }

  private func show(_ now: Int64) {
    var hasChanged = false
    for group in groups where group.takeChange() { hasChanged = true }
    if hasChanged { outputs.changed(snapshot(now), now: now) }
    outputs.step(now: now)
  }

  private func snapshot(_ now: Int64) -> WatchSnapshot {
    // The clock may have been set since.
    if startedAt < Limits.builtOn { startedAt = shim_unix_seconds() - (now - startedAtMonotonic) / 1000 }
    var snapshot = WatchSnapshot(startedAt: startedAt)
    snapshot.groups = groups.map { $0.snapshot(now: now) }
    return snapshot
  }

  // MARK: Events

  /// - Parameter isEnding: whether nobody reads changes of files and of the network any more.
  private func poll(_ until: Int64, isEnding: Bool = false) {
    var until = until
    var entries = (isEnding ? [signals.descriptor] : [signals.descriptor, inotify.descriptor, network]).map {
      shim_poll_entry(descriptor: $0, events: Int32(SHIM_POLL_READABLE), ready: 0)
    }
    for group in groups + retired { entries += group.waits }
    let (descriptors, outputsUntil) = outputs.wait
    entries += descriptors.map { shim_poll_entry(descriptor: $0, events: Int32(SHIM_POLL_READABLE), ready: 0) }
    if let outputsUntil { until = min(until, outputsUntil) }
    entries += Console.blocked.map { shim_poll_entry(descriptor: $0, events: Int32(SHIM_POLL_WRITABLE), ready: 0) }
    let now = shim_monotonic_milliseconds()
    _ = shim_poll(&entries, Int32(entries.count), max(0, until - now))
  }

  private func readChanges(_ now: Int64) {
    let (changes, hasLost) = inotify.read()
    for change in changes {
      for group in groups { group.handle(change, now: now) }
    }
    if hasLost { for group in groups { group.rescan(now: now) } }
  }

  /// Tries again what is unreachable when the network has changed, a moment later, because changes come in groups.
  private func readNetwork(_ now: Int64) {
    guard groups.contains(where: { $0.machine.awaitsNetwork }) else {
      if network >= 0 { _ = shim_close(network) }
      network = -1
      networkAt = .max
      return
    }
    if network < 0 { network = max(-1, shim_network_watch()) }
    if network >= 0, shim_network_changed(network) != 0 { networkAt = now + Limits.watchNetworkMilliseconds }
    guard now >= networkAt else { return }
    networkAt = .max
    for group in groups { group.networkChanged(now: now) }
  }

  private func readSignals(_ now: Int64) {
    guard shim_take_hangup() != 0 else { return }
    outputs.reloading()
    do throws(UsageError) {
      let read = try WatchArguments.groups(given, operands)
      try Watch.check(read)
      guard read[0].statePath == groups[0].arguments.statePath else {
        throw UsageError("a new state-dir needs a restart.")
      }
      reload(read)
      noteRestart(read[0])
    } catch {
      outputs.tell(WatchNotice(.warning, error.message + " The old options stay in effect.", .error))
    }
    for group in groups { group.retryNow(now: now) }
    for group in retired { group.proceed() }
  }

  // MARK: Reloads

  /// Groups whose options are the same are not touched. Nothing of others is lost: the files and the records are the queue.
  private func reload(_ arguments: [WatchArguments]) {
    var rest = groups
    var made: [WatchGroup] = []
    groups = arguments.map { arguments in
      if let index = rest.firstIndex(where: { $0.arguments.isSame(as: arguments) }) { return rest.remove(at: index) }
      made.append(makeGroup(arguments))
      return made[made.count - 1]
    }
    if made.isEmpty, rest.isEmpty { return }
    for group in rest { group.retire() }
    hand(rest, to: made)
    retired += rest
    let uploads = rest.reduce(0) { $0 + $1.uploadCount }
    for group in made {
      group.wait(for: retired)
      _ = group.openDirectories()
    }
    outputs.tell(
      WatchNotice(
        .started,
        "configuration reloaded."
          + (uploads == 0 ? "" : " Uploads that end with the former options: " + String(uploads) + ".")))
  }

  /// Says which options have changed without effect.
  private func noteRestart(_ read: WatchArguments) {
    let names = started.map { read.optionsThatNeedRestart(since: $0) } ?? []
    if names.isEmpty { return }
    let text = names.joined(separator: ", ") + (names.count == 1 ? " has" : " have")
    outputs.tell(WatchNotice(.warning, text + " changed, which takes effect after a restart.", .warning))
  }

  /// The figures of groups that have ended, or are about to.
  private func hand(_ ended: [WatchGroup], to groups: [WatchGroup]) {
    let successors = groups.map { (destination: $0.destination, directories: $0.arguments.directories) }
    for (group, history) in zip(groups, WatchHistory.assigned(ended.map { $0.takeHistory() }, to: successors)) {
      if let history { group.add(history) }
    }
  }

  private func stepRetired(_ now: Int64) {
    for group in retired where group.hasEnded(now: now, others(than: group)) {
      retired.removeAll { $0 === group }
      hand([group], to: groups)
      for other in groups { other.noteEnd(of: group) }
    }
  }

  // MARK: The end

  private func end() {
    outputs.stopping()
    let began = shim_monotonic_milliseconds()
    groups += retired
    for group in groups { group.end(atOnce: false) }
    var isKilling = false
    while true {
      shim_event_lower(signals.descriptor)
      let now = shim_monotonic_milliseconds()
      outputs.step(now: now)
      // All of them, even while the first one has not ended.
      let ended = groups.map { group in group.hasEnded(now: now, others(than: group)) }
      if ended.allSatisfy({ $0 }) { break }
      if !isKilling, now - began >= Limits.workerEndMilliseconds {
        isKilling = true
        for group in groups { group.end(atOnce: true) }
      }
      poll(isKilling ? now + 1000 : min(began + Limits.workerEndMilliseconds, now + 1000), isEnding: true)
    }
    outputs.tell(WatchNotice(.stopped, "stopped."))
    outputs.ended()
  }
}

extension Limits {
  /// The pause after a change of the network, because changes come in groups, in milliseconds.
  static let watchNetworkMilliseconds: Int64 = 500
  /// How long a worker may take to end after SIGTERM, in milliseconds.
  static let workerEndMilliseconds: Int64 = 4000
}
