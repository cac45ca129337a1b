/// Requests with more than ``Limits/fullSendLength`` bytes of content that were sent completely and failed, so that everything
/// has to be sent again. A server that fails each time would use up a mobile plan within hours; therefore they are limited
/// to ``Limits/fullSendCount`` within ``Limits/fullSendSeconds``.
package struct FullSends: Equatable, Sendable {
  /// How they failed. Another kind of failure resets the count.
  package enum Failure: String, Equatable, Sendable {
    /// The server responded, but did not accept it.
    case refused
    /// It received everything, and did not respond.
    case unanswered
  }

  package private(set) var failure: Failure
  /// When, in seconds since 1970, oldest first: one to ``Limits/fullSendCount``.
  package private(set) var times: [Int64]

  package init(_ failure: Failure, atSeconds seconds: Int64) {
    self.failure = failure
    times = [FullSends.possible(seconds)]
  }

  /// From a record.
  /// - Returns: nil if there are no times, too many, or impossible ones.
  package init?(_ failure: Failure, times: [Int64]) {
    guard !times.isEmpty, times.count <= Limits.fullSendCount,
      times.allSatisfy({ (0...Limits.unixSeconds).contains($0) })
    else { return nil }
    self.failure = failure
    self.times = times
  }

  /// Another one has failed.
  /// - Parameter seconds: since 1970, by a clock that can be wrong.
  package mutating func add(_ failure: Failure, atSeconds seconds: Int64) {
    let seconds = FullSends.possible(seconds)
    // A later time is from before the clock was set back.
    times.removeAll { failure != self.failure || $0 > seconds || seconds - $0 >= Limits.fullSendSeconds }
    self.failure = failure
    times = Array((times + [seconds]).suffix(Limits.fullSendCount))
  }

  private static func possible(_ seconds: Int64) -> Int64 { min(max(seconds, 0), Limits.unixSeconds) }

  /// When the next one is allowed, in seconds since 1970; nil if it is now.
  package var allowedAtSeconds: Int64? {
    times.count < Limits.fullSendCount ? nil : times[0] + Limits.fullSendSeconds
  }
}
