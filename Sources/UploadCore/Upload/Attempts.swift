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

/// A small generator (Steele, Lea, Flood 2014) for what nobody needs to be kept from guessing.
private struct SplitMix64: Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
