/// When a failed upload is retried: exponential back-off with full jitter, so that the clients of a recovering server do not
/// all return at once.
package struct RetryPolicy: Equatable, Sendable {
  /// The number of retries. The count restarts whenever the upload makes progress.
  package let retries: Int64
  /// The longest delay unless the server asks for more, in milliseconds.
  package let maximumDelayMilliseconds: Int64

  package init(retries: Int64, maximumDelayMilliseconds: Int64) {
    self.retries = retries
    self.maximumDelayMilliseconds = maximumDelayMilliseconds
  }

  /// The delay before the next attempt, in milliseconds; nil if there is none.
  /// - Parameters:
  ///   - failures: failed attempts since the last progress, greater than zero.
  ///   - retryAfterMilliseconds: what the server asked for. The delay is then that plus a little jitter.
  ///   - random: random bits.
  package func delay(afterFailures failures: Int64, retryAfterMilliseconds: Int64?, random: UInt64) -> Int64? {
    guard failures <= retries else { return nil }
    if let wish = retryAfterMilliseconds {
      return min(wish, Limits.retryAfterMilliseconds) + Int64(random % UInt64(Limits.retryBaseMilliseconds))
    }
    let doublings = min(failures - 1, 40)
    let ceiling = min(maximumDelayMilliseconds, Limits.retryBaseMilliseconds << doublings)
    return Int64(random % UInt64(max(1, ceiling) + 1))
  }

  /// Whether a request that was refused with this status is worth a retry (RFC 9110, 15; RFC 6585, 4).
  package static func isTransient(status: Int) -> Bool {
    switch status {
    // Request Timeout, Misdirected Request, Locked, Too Early, Too Many Requests
    case 408, 421, 423, 425, 429: true
    // Not Implemented and HTTP Version Not Supported do not go away.
    case 501, 505: false
    default: status >= 500
    }
  }
}
