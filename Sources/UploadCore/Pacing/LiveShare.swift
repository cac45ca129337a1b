/// Keeps a part of the line for finished recordings: while some are sent, those that are still made get at most their share. Each byte of the
/// one kind earns some for the other, so that nobody needs to know how fast the line is.
package struct LiveShare: Sendable {
  /// Of all bytes, those of recordings that are still made: 1 to 99.
  private let percent: Int64
  /// How much of them may be sent now, in bytes.
  private var earned: Int64 = 0
  /// When a finished one was sent last; nil if none was.
  private var finishedAt: Int64?

  package init(percent: Int64) { self.percent = percent }

  /// The number of bytes that may be written of a recording that is still made. It is zero until it is worth a write.
  package func allowance(nowMilliseconds now: Int64) -> Int {
    guard let finishedAt, now < finishedAt + Limits.liveShareMilliseconds else { return .max }
    return earned < Limits.liveShareQuantum ? 0 : Int(earned)
  }

  /// Bytes of a recording that is still made have been written.
  package mutating func consume(_ count: Int) { earned = max(0, earned - Int64(count)) }

  /// Bytes of a finished recording have been written.
  package mutating func earn(by count: Int, nowMilliseconds now: Int64) {
    finishedAt = now
    earned = min(earned + Int64(count) * percent / (100 - percent), Limits.liveShareMost)
  }
}

extension Limits {
  /// How long recordings that are still made leave their share of the line to finished ones of which nothing is sent, in milliseconds.
  static let liveShareMilliseconds: Int64 = 5000
  /// How much recordings that are still made must have earned for a write, in bytes.
  static let liveShareQuantum: Int64 = 16 << 10
  /// How much they can have earned, in bytes.
  static let liveShareMost: Int64 = 4 << 20
}
