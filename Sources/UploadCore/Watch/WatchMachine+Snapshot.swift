extension WatchMachine {
  /// What is shown of the group.
  /// - Parameters:
  ///   - destination: the URL without credentials and query.
  ///   - now: of the monotonic clock, in milliseconds.
  ///   - unixSeconds: the same time by the clock.
  package func snapshot(
    destination: String, _ directories: [WatchSnapshot.Directory], now: Int64, unixSeconds: Int64
  ) -> WatchSnapshot.Group {
    var group = WatchSnapshot.Group(destination: destination)
    group.directories = directories
    group.state = destinationState(now: now, unixSeconds: unixSeconds)
    for candidate in candidates {
      if candidate.phase == .given(hasStarted: true) {
        group.uploads.append(candidate.upload)
      } else {
        group.waitingCount += 1
        group.waitingBytes += candidate.file.size
      }
    }
    group.setAside = Array(leftAlone.setAside.lazy.compactMap { $0.shown }.prefix(Limits.setAsideShown))
    group.setAsideCount = leftAlone.setAside.count
    group.lastDelivery = report.lastDelivery
    group.totals = report.totals
    return group
  }

  private func destinationState(now: Int64, unixSeconds: Int64) -> WatchSnapshot.DestinationState {
    switch block {
    case .clock: return .waitingForClock
    case .interface(let name): return .waitingForInterface(name)
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
    case .unreachable(let trouble):
      return .unreachable(since: trouble.since, nextAttempt: next(trouble), message: trouble.message)
    case .paused(let trouble):
      return .paused(since: trouble.since, nextAttempt: next(trouble), message: trouble.message)
    }
  }
}
