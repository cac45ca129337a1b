/// Whether a destination accepts recordings, and when to try again if it does not.
struct DestinationHealth: Sendable {
  typealias Kind = WatchSnapshot.TroubleKind

  struct Trouble: Equatable, Sendable {
    /// While the destination is paused, it is probed every hour, and when a credentials file changes. Otherwise it is tried again with
    /// back-off, and when the network changes.
    var kind: Kind
    /// In seconds since 1970.
    var since: Int64
    var message: String
    var attempt: Attempt
    /// Failed attempts in a row.
    var failures: Int64
  }

  /// The next attempt to reach a destination that is not ready.
  enum Attempt: Equatable, Sendable {
    /// When it is due: on the monotonic clock, in milliseconds.
    case at(Int64)
    /// `isOutdated`: something has changed since it began, so the next one follows at once.
    case inProgress(isOutdated: Bool)

    var isInProgress: Bool { if case .inProgress = self { true } else { false } }
  }

  /// nil if it is ready.
  private(set) var trouble: Trouble?
  /// The last recording that was refused with 403, while nothing has been delivered since.
  var forbidden: [UInt8]?

  var isReady: Bool { trouble == nil }
  var isUnreachable: Bool { !isReady && !isPaused }
  var isPaused: Bool { trouble?.kind == .paused }

  /// When the next attempt is due (monotonic clock); nil if the destination is ready, and while one is in progress.
  var nextAttemptAt: Int64? { if case .at(let time) = trouble?.attempt { time } else { nil } }

  /// - Returns: whether it was not ready before.
  mutating func noteSuccess() -> Bool {
    defer { trouble = nil }
    return !isReady
  }

  /// An attempt has begun, if the destination is not ready.
  mutating func beginAttempt() { trouble?.attempt = .inProgress(isOutdated: false) }

  /// The attempt has ended and says nothing about the destination.
  mutating func noteInconclusive(now: Int64) {
    if trouble?.attempt.isInProgress ?? false { trouble?.attempt = .at(now) }
  }

  /// The next attempt is due now, because something has changed. The back-off begins again.
  mutating func retryNow(now: Int64) {
    if trouble?.attempt.isInProgress ?? false {
      trouble?.attempt = .inProgress(isOutdated: true)
    } else {
      trouble?.attempt = .at(now)
      if !isPaused { trouble?.failures = 0 }
    }
  }

  /// The attempt that follows a failure.
  private func next(_ now: Int64, after delay: Int64) -> Attempt {
    .at(trouble?.attempt == .inProgress(isOutdated: true) ? now : now + delay)
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
      let attempt = next(now, after: Limits.watchRetryMaximumMilliseconds)
      trouble?.attempt = attempt
      return false
    }
    let failures = (before?.failures ?? 0) + 1
    trouble = Trouble(
      kind: isLocal ? .failing : .unreachable, since: before?.since ?? unixSeconds, message: message,
      attempt: next(now, after: DestinationHealth.delay(failures: failures, random: random)), failures: failures)
    return before == nil
  }

  /// - Returns: whether this is news.
  mutating func notePause(_ message: String, now: Int64, unixSeconds: Int64) -> Bool {
    let isNews = !isPaused
    // One that failed together with others changes nothing about the next attempt, which may be due at once.
    var attempt = next(now, after: Limits.watchProbeMilliseconds)
    if let trouble, !trouble.attempt.isInProgress { attempt = trouble.attempt }
    let since = isNews ? nil : trouble?.since
    trouble = Trouble(kind: .paused, since: since ?? unixSeconds, message: message, attempt: attempt, failures: 1)
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
  static let watchRetryMaximumMilliseconds: Int64 = 600_000
  static let watchProbeMilliseconds: Int64 = 3_600_000
}
