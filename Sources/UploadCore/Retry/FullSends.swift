/// Requests with more than ``Limits/fullSendLength`` bytes of content that were sent completely and failed, so that everything
/// has to be sent again. A server that fails each time would use up a mobile plan within hours; therefore they are limited
/// to ``Limits/fullSendCount`` within ``Limits/fullSendSeconds``, with pauses in between. A sign that the server works again allows one more,
/// every ``Limits/fullSendExtraSeconds``.
package struct FullSends: Equatable, Sendable {
  /// How they failed. Another kind begins a new count, unless ``outlastsProgress``.
  package enum Failure: String, Equatable, Sendable {
    /// The server responded, but did not accept it.
    case refused
    /// It received everything, and did not respond.
    case unanswered
    /// It had the recording, or much of it, and lost that. Only a delivery or a day ends this: each new upload makes progress.
    case lost
  }

  package private(set) var failure: Failure
  /// When, in seconds since 1970, oldest first: one to ``Limits/fullSendCount``.
  package private(set) var times: [Int64]
  /// When the last one began although it was not allowed yet, in seconds since 1970.
  package private(set) var extraAt: Int64?

  package init(_ failure: Failure, atSeconds seconds: Int64) {
    self.failure = failure
    times = [FullSends.possible(seconds)]
  }

  /// From a record.
  /// - Returns: nil if there are no times, too many, or impossible ones.
  package init?(_ failure: Failure, times: [Int64], extraAt: Int64? = nil) {
    guard !times.isEmpty, times.count <= Limits.fullSendCount,
      times.allSatisfy({ (0...Limits.unixSeconds).contains($0) })
    else { return nil }
    self.failure = failure
    self.times = times
    self.extraAt = extraAt.flatMap { (0...Limits.unixSeconds).contains($0) ? $0 : nil }
  }

  /// Another one has failed.
  /// - Parameter seconds: since 1970, by a clock that can be wrong.
  package mutating func add(_ failure: Failure, atSeconds seconds: Int64) {
    if failure != self.failure, !outlastsProgress {
      self = FullSends(failure, atSeconds: seconds)
      return
    }
    let seconds = FullSends.possible(seconds)
    if times.count == Limits.fullSendCount, seconds < allowedAtSeconds { extraAt = seconds }
    // A later time is from before the clock was set back.
    times.removeAll { $0 > seconds || seconds - $0 >= Limits.fullSendSeconds }
    times = Array((times + [seconds]).suffix(Limits.fullSendCount))
  }

  /// Whether a server makes progress that has kept so much of what was sent, in bytes. Some keep a byte of each request.
  static func isProgress(_ kept: Int64, of sent: Int64) -> Bool { kept > 0 && kept >= sent / Limits.fairPart }

  /// Whether they count although the upload has progressed since.
  package var outlastsProgress: Bool { failure == .lost }

  private static func possible(_ seconds: Int64) -> Int64 { min(max(seconds, 0), Limits.unixSeconds) }

  /// Whether only a sign that the server works again allows another one before ``allowedAtSeconds``.
  package var areUsedUp: Bool { times.count == Limits.fullSendCount }

  /// When the next one is allowed, in seconds since 1970.
  package var allowedAtSeconds: Int64 {
    if areUsedUp { return times[0] + Limits.fullSendSeconds }
    return times[times.count - 1] + Limits.fullSendPauseSeconds[times.count - 1]
  }

  /// From when on a sign that the server works again allows one more, in seconds since 1970.
  package var extraAllowedAtSeconds: Int64 { extraAt.map { $0 + Limits.fullSendExtraSeconds } ?? 0 }
}

/// Notices a time limit for whole requests, as some proxies have: request after request is stopped after about the same time, while
/// its content is moving.
struct RequestTime: Equatable, Sendable {
  /// After how long the last one was stopped, in milliseconds.
  private var last: Int64?

  /// A request was stopped, and nothing of it was kept.
  /// - Parameter milliseconds: how long it was sent; nil if the peer did not stop it.
  /// - Returns: whether the one before was stopped after about the same time.
  mutating func wasReached(after milliseconds: Int64?) -> Bool {
    defer { last = milliseconds ?? last }
    return isReached(after: milliseconds)
  }

  /// Whether a request that was stopped so late has reached the limit.
  func isReached(after milliseconds: Int64?) -> Bool {
    guard let milliseconds, let last else { return false }
    return abs(milliseconds - last) <= max(milliseconds, last) / Limits.sameTimePart
  }
}

extension Limits {
  /// A server that keeps less than one of so many parts of what was sent makes no progress.
  static let fairPart: Int64 = 16
  /// Two times are about the same if they differ by at most this part of the longer one.
  static let sameTimePart: Int64 = 5
}
