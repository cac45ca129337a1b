import UploadCore

/// The times of a transfer, in milliseconds on the monotonic clock, and the resulting limits.
struct TransferClock {
  let timeouts: Timeouts
  private(set) var now: Int64 = 0
  private var lastAdvance: Int64?
  private(set) var nextReport: Int64 = 0

  init(_ timeouts: Timeouts) { self.timeouts = timeouts }

  mutating func beginStep(_ now: Int64) {
    // A step can follow one that read slowly, with the same time.
    self.now = max(self.now, now)
    lastAdvance = lastAdvance ?? now
  }

  /// More has arrived at the peer, or nothing could.
  mutating func noteAdvance() { lastAdvance = now }

  mutating func noteReport() { nextReport = now + Limits.progressIntervalMilliseconds }

  mutating func extendDeadlines(by milliseconds: Int64) { lastAdvance = lastAdvance.map { $0 + milliseconds } }

  /// The same within a step.
  mutating func excludeReading(_ milliseconds: Int64) {
    now += milliseconds
    extendDeadlines(by: milliseconds)
  }

  /// Whether more has just arrived at the peer.
  var isAdvancing: Bool { now - (lastAdvance ?? now) <= Limits.flowMilliseconds }

  var stallDeadline: Int64 { (lastAdvance ?? now) + timeouts.stallMilliseconds }

  /// - Parameters:
  ///   - sentAt: when the request's last byte was written; nil if it was not.
  ///   - limit: in milliseconds.
  func responseDeadline(sentAt: Int64?, limit: Int64) -> Int64 { max(sentAt ?? 0, lastAdvance ?? now) + limit }
}

extension Limits {
  /// Content is moving if more has arrived at the peer in the last milliseconds.
  static let flowMilliseconds: Int64 = 5000
}
