/// The tries of one upload, and the pauses between them.
struct Attempts: Sendable {
  private let policy: RetryPolicy
  private var random: SplitMix64
  private var failures: Int64 = 0
  /// The progress when the last try failed.
  private var progressAtFailure: Int64 = 0
  /// What the server asked for with its last answer.
  private var retryAfterMilliseconds: Int64?

  init(_ policy: RetryPolicy, seed: UInt64) {
    self.policy = policy
    random = SplitMix64(state: seed)
  }

  /// Takes what the answer says of a pause.
  mutating func note(_ answer: Answer) {
    retryAfterMilliseconds = RetryAfter.milliseconds(answer.fields, nowSeconds: answer.receivedAtSeconds)
  }

  /// A try has failed.
  /// - Parameter progress: grows with everything that need not be done again; growth sets the count back.
  /// - Returns: nil if there is no other try.
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
