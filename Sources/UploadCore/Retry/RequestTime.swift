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
