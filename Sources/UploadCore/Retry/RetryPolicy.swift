/// When a failed upload is tried again: exponential back-off with full jitter, so that many clients of a server that comes
/// back do not come all at once.
package struct RetryPolicy: Equatable, Sendable {
  /// Tries after the first one, counted anew whenever the upload has made progress.
  package let retries: Int64
  /// The longest delay of its own choice, in milliseconds.
  package let maximumDelayMilliseconds: Int64

  package init(retries: Int64, maximumDelayMilliseconds: Int64) {
    self.retries = retries
    self.maximumDelayMilliseconds = maximumDelayMilliseconds
  }

  /// How long to wait before the next try, in milliseconds; nil if there is none.
  /// - Parameters:
  ///   - failures: failed tries since the last progress, above zero.
  ///   - retryAfterMilliseconds: what the server asked for; the delay is then that and a little jitter.
  ///   - random: any bits.
  package func delay(afterFailures failures: Int64, retryAfterMilliseconds: Int64?, random: UInt64) -> Int64? {
    guard failures <= retries else { return nil }
    if let wish = retryAfterMilliseconds {
      return min(wish, Limits.retryAfterMilliseconds) + Int64(random % UInt64(Limits.retryBaseMilliseconds))
    }
    let doublings = min(failures - 1, 40)
    let ceiling = min(maximumDelayMilliseconds, Limits.retryBaseMilliseconds << doublings)
    return Int64(random % UInt64(max(1, ceiling) + 1))
  }

  /// Is a request that was refused with this status worth another try? (RFC 9110, 15; RFC 6585, 4)
  package static func isTransient(status: Int) -> Bool {
    switch status {
    // Request Timeout, Misdirected Request, Locked, Too Early, Too Many Requests
    case 408, 421, 423, 425, 429: true
    // Not Implemented and HTTP Version Not Supported stay as they are.
    case 501, 505: false
    default: status >= 500
    }
  }
}
