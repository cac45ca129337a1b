import UploadCore

/// When things happened in a transfer, in milliseconds on the monotonic clock, and which limits that means.
struct TransferClock {
  private(set) var now: Int64 = 0
  private var lastAdvance: Int64?
  private(set) var nextReport: Int64 = 0

  mutating func beginStep(_ now: Int64) {
    self.now = now
    lastAdvance = lastAdvance ?? now
  }

  /// More has arrived at the other side, or nothing could.
  mutating func noteAdvance() { lastAdvance = now }

  mutating func noteReport() { nextReport = now + Limits.progressIntervalMilliseconds }

  /// Time that no limit of the network's counts has passed.
  mutating func excuse(_ milliseconds: Int64) { lastAdvance = lastAdvance.map { $0 + milliseconds } }

  /// The same within a step.
  mutating func excuseReading(_ milliseconds: Int64) {
    now += milliseconds
    excuse(milliseconds)
  }

  func stallDeadline(_ limit: Int64) -> Int64 { (lastAdvance ?? now) + limit }

  /// - Parameter sentAt: when the request's last byte was written; nil if it has not been.
  func responseDeadline(_ limit: Int64, sentAt: Int64?) -> Int64 { max(sentAt ?? 0, lastAdvance ?? now) + limit }
}
