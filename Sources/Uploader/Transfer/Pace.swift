import UploadCore

/// The rate that the uploads of an uploader share.
final class Pace {
  fileprivate var rate: SharedRate

  /// - Parameter bytesPerSecond: greater than zero, and at most `Limits.rate`.
  init(bytesPerSecond: Int64) { rate = SharedRate(bytesPerSecond: bytesPerSecond) }
}

/// One upload's part of the rate, over all its requests.
final class PaceShare {
  private let pace: Pace
  private let number: Int

  init(of pace: Pace) {
    self.pace = pace
    number = pace.rate.join()
  }

  deinit { pace.rate.leave(number) }

  /// Bytes that may be written now.
  func allowance(nowMilliseconds now: Int64) -> Int { pace.rate.allowance(of: number, nowMilliseconds: now) }

  /// Bytes have been written.
  func consume(_ count: Int) { pace.rate.consume(count, of: number) }

  /// When the next write makes sense.
  func nextMilliseconds(nowMilliseconds now: Int64) -> Int64 {
    pace.rate.nextMilliseconds(of: number, nowMilliseconds: now)
  }

  /// Leaves the rate to the others until an allowance is asked for again.
  func rest() { pace.rate.rest(number) }
}
