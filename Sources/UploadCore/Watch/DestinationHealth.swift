/// Whether a destination accepts recordings, and when to try again if it does not.
struct DestinationHealth: Sendable {
  enum State: Equatable, Sendable {
    case ready
    /// The network, the server or this machine fails: tried again with back-off, and when the network changes.
    case unreachable(Trouble)
    /// A person has to do something: probed every hour, and when a credentials file changes.
    case paused(Trouble)
  }

  struct Trouble: Equatable, Sendable {
    /// In seconds since 1970.
    var since: Int64
    var message: String
    /// On the monotonic clock, in milliseconds; `Int64.max` while a probe is in progress.
    var nextAttempt: Int64
    /// Failed probes in a row.
    var failures: Int64
  }

  private(set) var state = State.ready

  var isReady: Bool { state == .ready }

  /// When the next probe is due (monotonic clock); nil if the destination is ready.
  var nextAttempt: Int64? { trouble?.nextAttempt }

  private var trouble: Trouble? {
    switch state {
    case .ready: nil
    case .unreachable(let trouble), .paused(let trouble): trouble
    }
  }

  /// - Returns: whether it was not ready before.
  mutating func noteSuccess() -> Bool {
    defer { state = .ready }
    return !isReady
  }

  /// A probe has started.
  mutating func noteProbe() { setNextAttempt(.max) }

  /// A probe has ended and says nothing about the destination.
  mutating func noteInconclusive(now: Int64) { if nextAttempt == .max { setNextAttempt(now) } }

  /// The next probe is due now, because something has changed. The back-off begins again.
  mutating func retryNow(now: Int64) {
    guard nextAttempt != .max else { return }
    setNextAttempt(now)
    if case .unreachable(var trouble) = state {
      trouble.failures = 0
      state = .unreachable(trouble)
    }
  }

  private mutating func setNextAttempt(_ time: Int64) {
    switch state {
    case .ready: break
    case .unreachable(var trouble):
      trouble.nextAttempt = time
      state = .unreachable(trouble)
    case .paused(var trouble):
      trouble.nextAttempt = time
      state = .paused(trouble)
    }
  }

  /// - Parameter random: random bits.
  /// - Returns: whether this is news. Of several uploads that fail together only the first one counts.
  mutating func noteFailure(_ message: String, now: Int64, unixSeconds: Int64, random: UInt64) -> Bool {
    if case .paused(let trouble) = state {
      // Nothing was learned: the pause continues.
      if trouble.nextAttempt == .max { setNextAttempt(now + Limits.watchRetryMaximumMilliseconds) }
      return false
    }
    let before = trouble
    if let before, before.nextAttempt != .max {
      // It failed together with the others, after the first one.
      return false
    }
    let failures = (before?.failures ?? 0) + 1
    state = .unreachable(
      Trouble(
        since: before?.since ?? unixSeconds, message: message,
        nextAttempt: now + DestinationHealth.delay(failures: failures, random: random), failures: failures))
    return before == nil
  }

  /// - Returns: whether this is news.
  mutating func notePause(_ message: String, now: Int64, unixSeconds: Int64) -> Bool {
    var since = unixSeconds
    var isNews = true
    if case .paused(let trouble) = state { (since, isNews) = (trouble.since, false) }
    state = .paused(
      Trouble(since: since, message: message, nextAttempt: now + Limits.watchProbeMilliseconds, failures: 1))
    return isNews
  }

  /// From one second to ten minutes: the upper half of an interval that doubles, so that boards do not return all at once.
  static func delay(failures: Int64, random: UInt64) -> Int64 {
    let ceiling = min(Limits.retryBaseMilliseconds << min(failures, 20), Limits.watchRetryMaximumMilliseconds)
    return ceiling / 2 + Int64(random % UInt64(ceiling / 2 + 1))
  }
}
