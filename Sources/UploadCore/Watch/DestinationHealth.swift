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
    var attempt: Attempt
    /// Failed attempts in a row.
    var failures: Int64
    /// Whether this machine fails, and not the network or the server.
    var isLocal = false
  }

  /// The next attempt to reach a destination that is not ready.
  enum Attempt: Equatable, Sendable {
    /// When it is due: on the monotonic clock, in milliseconds.
    case at(Int64)
    /// `isOutdated`: something has changed since it began, so the next one follows at once.
    case inProgress(isOutdated: Bool)

    var isInProgress: Bool { if case .inProgress = self { true } else { false } }
  }

  private(set) var state = State.ready
  /// The last recording that was refused with 403, while nothing has been delivered since.
  var forbidden: [UInt8]?

  var isReady: Bool { state == .ready }
  var isUnreachable: Bool { if case .unreachable = state { true } else { false } }
  var isPaused: Bool { if case .paused = state { true } else { false } }

  /// When the next attempt is due (monotonic clock); nil if the destination is ready, and while one is in progress.
  var nextAttemptAt: Int64? { if case .at(let time) = trouble?.attempt { time } else { nil } }

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

  /// An attempt has begun, if the destination is not ready.
  mutating func beginAttempt() { setAttempt(.inProgress(isOutdated: false)) }

  /// The attempt has ended and says nothing about the destination.
  mutating func noteInconclusive(now: Int64) { if let trouble, trouble.attempt.isInProgress { setAttempt(.at(now)) } }

  /// The next attempt is due now, because something has changed. The back-off begins again.
  mutating func retryNow(now: Int64) {
    guard let trouble, !trouble.attempt.isInProgress else { return setAttempt(.inProgress(isOutdated: true)) }
    setAttempt(.at(now))
    if case .unreachable(var trouble) = state {
      trouble.failures = 0
      state = .unreachable(trouble)
    }
  }

  /// The attempt that follows a failure.
  private func next(_ now: Int64, after delay: Int64) -> Attempt {
    .at(trouble?.attempt == .inProgress(isOutdated: true) ? now : now + delay)
  }

  private mutating func setAttempt(_ attempt: Attempt) {
    switch state {
    case .ready: break
    case .unreachable(var trouble):
      trouble.attempt = attempt
      state = .unreachable(trouble)
    case .paused(var trouble):
      trouble.attempt = attempt
      state = .paused(trouble)
    }
  }

  /// - Parameter random: random bits.
  /// - Returns: whether this is news. Of several uploads that fail together only the first one counts.
  mutating func noteFailure(
    _ message: String, isLocal: Bool = false, now: Int64, unixSeconds: Int64, random: UInt64
  ) -> Bool {
    let before = trouble
    // It failed together with the others, after the first one.
    if let before, !before.attempt.isInProgress { return false }
    if isPaused {
      // Nothing was learned: the pause continues.
      setAttempt(next(now, after: Limits.watchRetryMaximumMilliseconds))
      return false
    }
    let failures = (before?.failures ?? 0) + 1
    state = .unreachable(
      Trouble(
        since: before?.since ?? unixSeconds, message: message,
        attempt: next(now, after: DestinationHealth.delay(failures: failures, random: random)), failures: failures,
        isLocal: isLocal))
    return before == nil
  }

  /// - Returns: whether this is news.
  mutating func notePause(_ message: String, now: Int64, unixSeconds: Int64) -> Bool {
    var since = unixSeconds
    var isNews = true
    if case .paused(let trouble) = state { (since, isNews) = (trouble.since, false) }
    // One that failed together with others changes nothing about the next attempt, which may be due at once.
    var attempt = next(now, after: Limits.watchProbeMilliseconds)
    if let trouble, !trouble.attempt.isInProgress { attempt = trouble.attempt }
    state = .paused(Trouble(since: since, message: message, attempt: attempt, failures: 1))
    return isNews
  }

  /// From one second to ten minutes: the upper half of an interval that doubles, so that boards do not return all at once.
  static func delay(failures: Int64, random: UInt64) -> Int64 {
    let ceiling = min(Limits.retryBaseMilliseconds << min(failures, 20), Limits.watchRetryMaximumMilliseconds)
    return ceiling / 2 + Int64(random % UInt64(ceiling / 2 + 1))
  }
}

extension Limits {
  /// The longest delay between two attempts to reach a destination, and between two probes of a paused one, in milliseconds.
  package static let watchRetryMaximumMilliseconds: Int64 = 600_000
  package static let watchProbeMilliseconds: Int64 = 3_600_000
}
