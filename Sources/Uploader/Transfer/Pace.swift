import UploadCore

/// The rate shared by the uploads of an uploader.
final class Pace {
  fileprivate var rate: SharedRate

  /// - Parameter bytesPerSecond: greater than zero, and at most `Limits.rate`.
  init(bytesPerSecond: Int64) { rate = SharedRate(bytesPerSecond: bytesPerSecond) }
}

/// The share of one upload in the rate, for all its requests.
final class PaceShare {
  private let pace: Pace
  private let number: Int

  init(of pace: Pace) {
    self.pace = pace
    number = pace.rate.join()
  }

  deinit { pace.rate.leave(number) }

  /// The number of bytes that may be written now.
  func allowance(nowMilliseconds now: Int64) -> Int { pace.rate.allowance(of: number, nowMilliseconds: now) }

  /// Bytes have been written.
  func consume(_ count: Int) { pace.rate.consume(count, of: number) }

  /// The time of the next useful write, in milliseconds.
  func nextMilliseconds(nowMilliseconds now: Int64) -> Int64 {
    pace.rate.nextMilliseconds(of: number, nowMilliseconds: now)
  }

  /// Leaves the rate to the others until it asks for an allowance again.
  func rest() { pace.rate.rest(number) }
}
