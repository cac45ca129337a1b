/// How fast uploads may be sent.
public enum RateLimit: Equatable, Sendable {
  /// Nothing is sent.
  case paused
  /// 1 to 10^12.
  case bytesPerSecond(Int64)
  case unlimited
}

extension RateLimit: Comparable {
  private var rank: Int64 {
    switch self {
    case .paused: 0
    case .bytesPerSecond(let rate): rate
    case .unlimited: .max
    }
  }

  /// Whether the first limit is the stricter one.
  public static func < (one: RateLimit, other: RateLimit) -> Bool { one.rank < other.rank }
}
