/// When a failed upload is retried: exponential back-off, of which half is random, so that the clients of a recovering server do not all
/// return at once.
package struct RetryPolicy: Equatable, Sendable {
  package let limit: RetryLimit
  /// The longest delay, in milliseconds, unless the server asks for more or has failed ``Limits/retryBurstCount`` times.
  package let maximumDelayMilliseconds: Int64
  /// Whether a large recording that was sent completely in vain is left to the caller, who sends others first.
  package var endsAfterFullSend = false

  package init(_ limit: RetryLimit, maximumDelayMilliseconds: Int64) {
    self.limit = limit
    self.maximumDelayMilliseconds = maximumDelayMilliseconds
  }

  /// How much longer failed attempts are repeated.
  package enum Remainder: Equatable, Sendable {
    case nothing
    case milliseconds(Int64)
    case unlimited
  }

  /// - Parameters:
  ///   - failures: failed attempts since the last progress, greater than zero.
  ///   - elapsed: the time since the first of them, in milliseconds.
  package func remainder(afterFailures failures: Int64, failingForMilliseconds elapsed: Int64) -> Remainder {
    switch limit {
    case .failures(let count): failures <= count ? .unlimited : .nothing
    case .time(let milliseconds): elapsed < milliseconds ? .milliseconds(milliseconds - elapsed) : .nothing
    case .forever: .unlimited
    }
  }

  /// The delay before the next attempt, in milliseconds; nil if there is none.
  /// - Parameters:
  ///   - failures: failed attempts since the last progress, greater than zero.
  ///   - remainder: how much longer they are repeated. The last attempt is at its end.
  ///   - retryAfterMilliseconds: what the server asked for. The delay is then that plus a little jitter.
  ///   - minimum: the shortest delay, in milliseconds. It comes before ``maximumDelayMilliseconds``.
  ///   - random: random bits.
  package func delay(
    afterFailures failures: Int64, within remainder: Remainder, retryAfterMilliseconds: Int64?, minimum: Int64 = 0,
    random: UInt64
  ) -> Int64? {
    let longest: Int64
    switch remainder {
    case .nothing: return nil
    case .milliseconds(let milliseconds): longest = milliseconds
    case .unlimited: longest = .max
    }
    let wish = retryAfterMilliseconds.map { min($0, Limits.retryAfterMilliseconds) }
    if let floor = wish.map({ max($0, minimum) }) ?? (minimum > 0 ? minimum : nil) {
      guard floor <= longest else { return nil }
      return min(floor + Int64(random % UInt64(Limits.retryBaseMilliseconds)), longest)
    }
    let growth = min(failures - 1, Limits.retryGrowthCount) * Limits.retryGrowthBits
    // Whatever the longest delay: a server that fails at once is not asked thousands of times a second.
    let floor = failures > Limits.retryBurstCount ? Limits.retryBurstMilliseconds : 0
    let step = max(floor, min(maximumDelayMilliseconds, Limits.retryBaseMilliseconds << growth))
    return min(step / 2 + Int64(random % UInt64(step - step / 2 + 1)), longest)
  }

  /// Whether a request that was refused with this status is worth a retry (RFC 9110, 15; RFC 6585, 4).
  package static func isTransient(status: Int) -> Bool {
    switch status {
    // Request Timeout, Misdirected Request, Locked, Too Early, Too Many Requests
    case 408, 421, 423, 425, 429: true
    // Not Implemented, HTTP Version Not Supported and Insufficient Storage do not go away.
    case 501, 505, 507: false
    default: status >= 500
    }
  }
}

/// How long a failed upload is retried without progress.
///
/// With a time or ``forever``, the upload also waits out errors that look permanent but often pass: a name that is unknown, the
/// login page of a captive portal, any 5xx, and a certificate that is not valid yet.
public enum RetryLimit: Equatable, Sendable {
  /// This number of retries, 0 to 1,000,000.
  case failures(Int64)
  /// Until this time has passed since the first failure, 1,000 to 31,536,000,000 milliseconds (a year).
  case time(milliseconds: Int64)
  case forever

  /// Whether errors that look permanent but often pass are waited out.
  var isPatient: Bool {
    switch self {
    case .failures: false
    case .time, .forever: true
    }
  }
}

/// A small random number generator (Steele, Lea, Flood 2014), not for secrets.
struct SplitMix64: Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension Limits {
  /// After so many retries, the longest delay is no shorter than this, in milliseconds.
  static let retryBurstCount: Int64 = 10
  static let retryBurstMilliseconds: Int64 = 100
}
