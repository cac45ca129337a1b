/// How long a server that did not answer a question about a delivered recording is not asked about any. Times are milliseconds of the
/// monotonic clock.
package struct ServerSilence: Sendable {
  private var failures = 0
  /// When to ask again; nil if it answers.
  private(set) var endsAt: Int64?

  package init() {}

  package func allowsQuestion(_ now: Int64) -> Bool { endsAt.map { $0 <= now } ?? true }

  /// It did not answer. Questions that were asked before that was known change nothing.
  package mutating func note(_ now: Int64) {
    guard allowsQuestion(now) else { return }
    failures += 1
    endsAt = now + Limits.removalDelayMilliseconds(afterFailures: failures)
  }

  /// Allows only one question until it is answered, or until the next delay has passed.
  mutating func beginQuestion(_ now: Int64) { if endsAt != nil { note(now) } }

  package mutating func noteAnswer() { self = ServerSilence() }
}
