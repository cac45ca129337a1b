/// When a file with the current state is written: when something has changed, but not more often than every interval, so that a
/// memory card does not wear out. While nothing changes, nothing is written.
package struct WriteThrottle {
  private let interval: Int64
  private var last: Int64?
  private var isPending = false

  /// - Parameter interval: in milliseconds.
  package init(interval: Int64 = Limits.watchStatusMilliseconds) { self.interval = interval }

  package mutating func noteChange() { isPending = true }

  /// When it is due (monotonic clock); nil if nothing has changed.
  package var due: Int64? { isPending ? last.map { $0 + interval } ?? Int64.min : nil }

  /// Whether it is to be written now, which then counts as done.
  package mutating func isDue(now: Int64) -> Bool {
    guard let due, now >= due else { return false }
    (last, isPending) = (now, false)
    return true
  }
}
