extension WatchMachine {
  /// What is shown of the group.
  /// - Parameters:
  ///   - destination: the URL without credentials and query.
  ///   - formerUploads: in progress with the options before a reload.
  ///   - now: of the monotonic clock, in milliseconds.
  ///   - unixSeconds: the same time by the clock.
  package func snapshot(
    destination: String, _ directories: [WatchSnapshot.Directory], formerUploads: [WatchSnapshot.Upload] = [],
    now: Int64, unixSeconds: Int64
  ) -> WatchSnapshot.Group {
    var group = WatchSnapshot.Group(destination: destination)
    group.directories = directories
    group.state = destinationState(now: now, unixSeconds: unixSeconds)
    group.uploads = uploads + formerUploads
    for candidate in candidates where !group.uploads.contains(where: { $0.path == candidate.path }) {
      group.waitingCount += 1
      group.waitingBytes += candidate.file.size
      if let reason = candidate.unreadyReason {
        group.unreadyCount += 1
        guard group.unready.count < Limits.setAsideShown else { continue }
        group.unready.append(.init(id: candidate.upload.id, path: candidate.path, message: reason, since: nil))
      }
      guard let reason = candidate.waitReason, candidate.dueAt > now else { continue }
      group.postponedCount += 1
      guard group.postponed.count < Limits.setAsideShown else { continue }
      var shown = WatchSnapshot.SetAside(id: candidate.upload.id, path: candidate.path, message: reason, since: nil)
      shown.nextAttempt = unixSeconds + (candidate.dueAt - now) / 1000
      group.postponed.append(shown)
    }
    let setAside = leftAlone.setAside.lazy.filter { !$0.isBeingRetried }
    for entry in setAside {
      guard group.setAside.count < Limits.setAsideShown else { break }
      guard var shown = entry.shown else { continue }
      if entry.dueAt < .max { shown.nextAttempt = unixSeconds + max(0, entry.dueAt - now) / 1000 }
      group.setAside.append(shown)
    }
    group.setAsideCount = setAside.count
    group.lastDelivery = report.lastDelivery
    group.totals = report.totals
    return group
  }

  /// The uploads in progress.
  package var uploads: [WatchSnapshot.Upload] {
    candidates.indices.lazy.map { candidates[$0] }.filter { $0.phase == .given(hasStarted: true) }.map { $0.upload }
  }

  private func destinationState(now: Int64, unixSeconds: Int64) -> WatchSnapshot.DestinationState {
    switch block {
    case .clock: return .waitingForClock
    case .interface(let name): return .waitingForInterface(name)
    case .formerUpload: return .waitingForFormerUpload
    case .stopped(let process): return .stopped(process: process)
    case nil: break
    }
    let due = candidates.reduce(Int64.max) { $1.phase == .ready ? min($0, $1.dueAt) : $0 }
    func next(_ trouble: DestinationHealth.Trouble) -> Int64 {
      guard case .at(let time) = trouble.attempt else { return unixSeconds }
      let attempt = due == .max ? time : max(due, time)
      return unixSeconds + max(0, attempt - now) / 1000
    }
    switch health.state {
    case .ready: return .ready
    case .unreachable(let trouble) where trouble.isLocal:
      return .failing(since: trouble.since, nextAttempt: next(trouble), message: trouble.message)
    case .unreachable(let trouble):
      return .unreachable(since: trouble.since, nextAttempt: next(trouble), message: trouble.message)
    case .paused(let trouble):
      return .paused(since: trouble.since, nextAttempt: next(trouble), message: trouble.message)
    }
  }
}
