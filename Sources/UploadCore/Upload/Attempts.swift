/// The attempts of one upload, and the delays between them.
struct Attempts: Sendable {
  private let policy: RetryPolicy
  private var random: SplitMix64
  private var failures: Int64 = 0
  /// The progress when the last attempt failed.
  private var progressAtFailure: Int64 = 0
  /// The delay that the server's last response asked for.
  private var retryAfterMilliseconds: Int64?

  init(_ policy: RetryPolicy, seed: UInt64) {
    self.policy = policy
    random = SplitMix64(state: seed)
  }

  /// Notes the Retry-After of a response.
  mutating func note(_ answer: Answer) {
    retryAfterMilliseconds = RetryAfter.milliseconds(answer.fields, nowSeconds: answer.receivedAtSeconds)
  }

  /// An attempt has failed.
  /// - Parameter progress: grows with everything that need not be repeated. Growth resets the count of failures.
  /// - Returns: nil if there is no retry.
  mutating func failed(_ error: UploadError, progress: Int64) -> Retry? {
    if progress > progressAtFailure {
      progressAtFailure = progress
      failures = 0
    }
    failures += 1
    defer { retryAfterMilliseconds = nil }
    let delay = policy.delay(
      afterFailures: failures, retryAfterMilliseconds: retryAfterMilliseconds, random: random.next())
    return delay.map { Retry(error: error, failures: failures, delayMilliseconds: $0) }
  }
}
