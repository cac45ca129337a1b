/// Spreads bytes evenly over time: a token bucket that fills at the rate and holds up to a fifth of a second.
package struct TokenBucket: Sendable {
  private let bytesPerSecond: Int64
  /// What may be sent now, in thousandths of a byte, so that slow rates lose nothing to rounding.
  private var milliBytes: Int64 = 0
  private var filledAt: Int64?

  /// - Parameter bytesPerSecond: greater than zero, and at most `Limits.rate`.
  package init(bytesPerSecond: Int64) {
    precondition(bytesPerSecond > 0 && bytesPerSecond <= Limits.rate)
    self.bytesPerSecond = bytesPerSecond
  }

  /// The number of bytes that may be written now; zero until there are enough for a write.
  package mutating func allowance(nowMilliseconds now: Int64) -> Int {
    let elapsed = now - (filledAt ?? now)
    if elapsed > 0 {
      // At the slowest rates, less than a byte accumulates in that time.
      let most = max(bytesPerSecond * Limits.rateBurstMilliseconds, quantum)
      milliBytes = min(most, milliBytes + bytesPerSecond * min(elapsed, 1000))
    }
    filledAt = now
    return milliBytes >= quantum ? Int(clamping: milliBytes / 1000) : 0
  }

  /// Bytes have been written.
  package mutating func consume(_ count: Int) { milliBytes -= Int64(count) * 1000 }

  /// The time of the next useful write, in milliseconds.
  /// - Parameter bytes: how many bytes are written before it.
  package func nextMilliseconds(nowMilliseconds now: Int64, after bytes: Int64 = 0) -> Int64 {
    let missing = quantum + bytes * 1000 - milliBytes
    return missing <= 0 ? now : now + (missing + bytesPerSecond - 1) / bytesPerSecond
  }

  /// What accumulates in a twentieth of a second, but at least one byte.
  private var quantum: Int64 { max(1000, bytesPerSecond * Limits.rateQuantumMilliseconds) }
}
