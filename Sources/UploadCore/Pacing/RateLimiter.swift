/// Spreads bytes evenly over time: a token bucket that fills at the rate and holds a fifth of a second's worth.
package struct RateLimiter: Sendable {
  private let bytesPerSecond: Int64
  /// What may go out now, in thousandths of a byte, so that slow rates lose nothing to rounding.
  private var milliBytes: Int64 = 0
  private var filledAt: Int64?

  /// - Parameter bytesPerSecond: above zero, and at most `Limits.rate`.
  package init(bytesPerSecond: Int64) {
    precondition(bytesPerSecond > 0 && bytesPerSecond <= Limits.rate)
    self.bytesPerSecond = bytesPerSecond
  }

  /// Bytes that may be written now; zero until enough have come together for a write.
  package mutating func allowance(nowMilliseconds now: Int64) -> Int {
    let elapsed = now - (filledAt ?? now)
    if elapsed > 0 {
      // The slowest rates have less than a byte in that time.
      let most = max(bytesPerSecond * Limits.rateBurstMilliseconds, quantum)
      milliBytes = min(most, milliBytes + bytesPerSecond * min(elapsed, 1000))
    }
    filledAt = now
    return milliBytes >= quantum ? Int(clamping: milliBytes / 1000) : 0
  }

  /// Bytes have been written.
  package mutating func consume(_ count: Int) { milliBytes -= Int64(count) * 1000 }

  /// When the next write makes sense.
  /// - Parameter bytes: what is written before it.
  package func nextMilliseconds(nowMilliseconds now: Int64, after bytes: Int64 = 0) -> Int64 {
    let missing = quantum + bytes * 1000 - milliBytes
    return missing <= 0 ? now : now + (missing + bytesPerSecond - 1) / bytesPerSecond
  }

  /// A twentieth of a second's worth, and one byte at least.
  private var quantum: Int64 { max(1000, bytesPerSecond * Limits.rateQuantumMilliseconds) }
}
