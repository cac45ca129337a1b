/// Decides after each failed attempt of one upload whether there is another one, and when.
struct RetryDecider: Sendable {
  enum Consequence: Equatable, Sendable {
    case retry(Retry)
    case end(UploadError)
  }

  private let policy: RetryPolicy
  private var random: SplitMix64
  private var failures: Int64 = 0
  /// When the first attempt since the last progress failed.
  private var failingSinceMilliseconds: Int64 = 0
  /// The progress when the last attempt failed.
  private var progressAtFailure: Int64 = 0
  /// The delay that the server's last response asked for.
  private var retryAfterMilliseconds: Int64?
  private var fullSends: FullSendCount

  /// - Parameters:
  ///   - fullSends: those of earlier processes.
  ///   - progress: that of earlier processes.
  init(_ policy: RetryPolicy, seed: UInt64, fullSends: FullSends? = nil, progress: Int64 = 0) {
    self.policy = policy
    self.fullSends = FullSendCount(fullSends, progress: progress)
    random = SplitMix64(state: seed)
  }

  /// Notes the Retry-After of a response. After a 409, a HEAD shows that an upload is locked, and the wish of the 409 counts.
  mutating func keepRetryAfter(of answer: Answer, to request: HTTPRequest) {
    if request.method == "HEAD", answer.isSuccess { return }
    retryAfterMilliseconds = RetryAfter.milliseconds(answer.fields, nowSeconds: answer.receivedAtSeconds)
  }

  /// Full sends that are not in the record yet.
  mutating func takeUnsaved() -> FullSends? {
    fullSends.takeUnsaved()
  }

  /// An attempt has failed.
  /// - Parameters:
  ///   - mayPass: whether a retry can help.
  ///   - mayRepeat: whether a retry by this machine is safe.
  ///   - fullSend: how it failed if it was a full send; nil for others.
  ///   - pausesAfterFullSend: whether everything may have to be sent again, as far as is known.
  ///   - sentLength: of its content, in bytes; 0 for others.
  ///   - progress: grows with everything that need not be repeated. Growth resets all counts, but not the little that a full send may bring.
  ///   - minimumDelay: before the next attempt, in milliseconds.
  mutating func failed(
    _ error: UploadError, mayPass: Bool, mayRepeat: Bool, fullSend: FullSends.Failure?,
    sentLength: Int64 = 0, pausesAfterFullSend: Bool = true, progress: Int64, minimumDelay: Int64 = 0,
    nowMilliseconds now: Int64,
    unixSeconds: Int64
  ) -> Consequence {
    defer { retryAfterMilliseconds = nil }
    // The next upload of a lost recording is another one, with a limit of its own.
    if FullSends.isProgress(progress - progressAtFailure, of: sentLength) || fullSend == .lost {
      progressAtFailure = progress
      failures = 0
    }
    if failures == 0 { failingSinceMilliseconds = now }
    failures += 1
    var pause: Int64 = 0
    if let fullSend {
      let sends = fullSends.add(fullSend, of: sentLength, progress: progress, unixSeconds: unixSeconds)
      if sends.areUsedUp || mayPass && policy.endsAfterFullSend {
        let count = sends.times.count
        return .end(.postponed(error, untilSeconds: sends.allowedAtSeconds, .sentRepeatedly(count: count)))
      }
      if pausesAfterFullSend { pause = max(0, sends.allowedAtSeconds - max(unixSeconds, 0)) * 1000 }
    }
    guard mayPass else { return .end(error) }
    guard mayRepeat else { return .end(postponed(error, unixSeconds)) }
    let remainder = policy.remainder(afterFailures: failures, failingForMilliseconds: now - failingSinceMilliseconds)
    let delay = policy.delay(
      afterFailures: failures, within: remainder, retryAfterMilliseconds: retryAfterMilliseconds,
      minimum: max(pause, minimumDelay), random: random.next())
    var left: Int64?
    if case .milliseconds(let milliseconds) = remainder { left = milliseconds }
    if let delay {
      return .retry(Retry(error: error, failures: failures, delayMilliseconds: delay, remainingMilliseconds: left))
    }
    return .end(left == nil ? error : postponed(error, unixSeconds))
  }

  /// The error with the time that the server asked for, if it did.
  private func postponed(_ error: UploadError, _ unixSeconds: Int64) -> UploadError {
    guard let wish = retryAfterMilliseconds else { return error }
    let now = min(max(unixSeconds, 0), Limits.unixSeconds)
    return .postponed(error, untilSeconds: now + (wish + 999) / 1000, .serverAsked)
  }
}

/// The full sends of one upload since its last progress.
private struct FullSendCount: Sendable {
  private var sends: FullSends?
  private var progressAtLast: Int64
  private var unsaved: FullSends?

  /// - Parameters:
  ///   - sends: those of earlier processes.
  ///   - progress: that of earlier processes.
  init(_ sends: FullSends?, progress: Int64) {
    self.sends = sends
    progressAtLast = progress
  }

  mutating func takeUnsaved() -> FullSends? {
    defer { unsaved = nil }
    return unsaved
  }

  mutating func add(
    _ failure: FullSends.Failure, of length: Int64, progress: Int64, unixSeconds: Int64
  ) -> FullSends {
    if sends == nil || FullSends.isProgress(progress - progressAtLast, of: length) {
      if sends?.outlastsProgress == false { sends = nil }
      progressAtLast = progress
    }
    var sends = self.sends ?? FullSends(failure, atSeconds: unixSeconds)
    if self.sends != nil { sends.add(failure, atSeconds: unixSeconds) }
    self.sends = sends
    unsaved = sends
    return sends
  }
}

/// A retry that is about to be made.
public struct Retry: Equatable, Sendable {
  /// The error of the last attempt.
  public let error: UploadError
  /// The number of failed attempts since the last progress.
  public let failures: Int64
  /// The delay before the next attempt, in milliseconds.
  public let delayMilliseconds: Int64
  /// How much longer attempts are repeated without progress, in milliseconds; nil unless the limit is a time.
  public let remainingMilliseconds: Int64?

  package init(error: UploadError, failures: Int64, delayMilliseconds: Int64, remainingMilliseconds: Int64? = nil) {
    self.error = error
    self.failures = failures
    self.delayMilliseconds = delayMilliseconds
    self.remainingMilliseconds = remainingMilliseconds
  }
}

/// Whether interrupted requests may be repeated.
enum RetrySafety: Equatable, Sendable {
  case allowed
  case forbidden
  /// No: the server may have stored the recording, and would store it twice.
  case couldStoreTwice
}

/// The Retry-After field (RFC 9110, 10.2.3).
package enum RetryAfter {
  /// The delay that the server asks for, in milliseconds; nil if there is none or it cannot be parsed.
  /// - Parameter nowSeconds: since 1970 by this machine's clock. It is used only if the response has no date, because boards
  ///   often do not know the time.
  package static func milliseconds(_ fields: [Field], nowSeconds: Int64) -> Int64? {
    guard let value = fields.first("Retry-After") else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ ASCII.isDigit($0) }) {
      return min(ASCII.decimal(value.utf8) ?? .max, Limits.retryAfterMilliseconds / 1000) * 1000
    }
    guard let date = HTTPDate.seconds(value) else { return nil }
    let now = fields.first("Date").flatMap { HTTPDate.seconds($0) } ?? nowSeconds
    return min(max(0, date - now), Limits.retryAfterMilliseconds / 1000) * 1000
  }
}
