import CShims
import UploadCore

/// What the uploads of an uploader share: the rate, which can change with the time of the day, and what recordings that are still made leave
/// to finished ones.
final class RateControl {
  fileprivate var shares: FairShares
  fileprivate var liveShare: LiveShare?
  private let schedule: RateSchedule
  /// The minutes since Sunday, 00:00, local time; nil while the clock is wrong.
  private let minute: () -> Int?
  fileprivate private(set) var limit: RateLimit
  /// When the time is looked at again, on the monotonic clock.
  private var nextLook: Int64 = .min

  /// - Parameter livePercent: ``Configuration/livePercent``.
  init(_ schedule: RateSchedule, livePercent: Int64? = nil, minute: @escaping () -> Int? = RateControl.localMinute) {
    self.schedule = schedule
    liveShare = livePercent.map { LiveShare(percent: $0) }
    self.minute = minute
    limit = schedule.strictest
    shares = FairShares(bytesPerSecond: schedule.rates.min() ?? 1)
  }

  fileprivate func limit(nowMilliseconds now: Int64) -> RateLimit {
    guard !schedule.isConstant, now >= nextLook else { return limit }
    nextLook = now + Limits.rateScheduleMilliseconds
    let current = schedule.limit(atMinute: minute())
    if current != limit, case .bytesPerSecond(let bytes) = current { shares.change(bytesPerSecond: bytes) }
    limit = current
    return limit
  }

  private static func localMinute() -> Int? {
    let now = shim_unix_seconds()
    return now < Limits.builtOn ? nil : Int(shim_local_week_minute(now))
  }
}

/// The share of one upload in the rate, for all its requests.
final class RateShare {
  private let control: RateControl
  private let number: Int
  /// Whether its upload is that of a recording that is still made.
  var isLive = false

  init(of control: RateControl) {
    self.control = control
    number = control.shares.join()
  }

  deinit { control.shares.leave(number) }

  func isPaused(nowMilliseconds now: Int64) -> Bool { control.limit(nowMilliseconds: now) == .paused }

  /// The number of bytes that may be written now.
  func allowance(nowMilliseconds now: Int64) -> Int {
    let most = isLive ? control.liveShare?.allowance(nowMilliseconds: now) ?? .max : .max
    return switch control.limit(nowMilliseconds: now) {
    case .paused: 0
    case .bytesPerSecond: most == 0 ? 0 : min(most, control.shares.allowance(of: number, nowMilliseconds: now))
    case .unlimited: most
    }
  }

  /// Bytes have been written. Those sent while there is no limit on the rate take nothing from it, so they do not count there.
  func consume(_ count: Int, nowMilliseconds now: Int64) {
    if control.limit != .unlimited { control.shares.consume(count, of: number) }
    if isLive { control.liveShare?.consume(count) } else { control.liveShare?.earn(by: count, nowMilliseconds: now) }
  }

  func nextMilliseconds(nowMilliseconds now: Int64) -> Int64 {
    if isLive, control.liveShare?.allowance(nowMilliseconds: now) == 0 {
      return now + Limits.liveSharePauseMilliseconds
    }
    return switch control.limit(nowMilliseconds: now) {
    case .paused: now + Limits.rateScheduleMilliseconds
    case .bytesPerSecond: control.shares.nextMilliseconds(of: number, nowMilliseconds: now)
    case .unlimited: now
    }
  }

  /// Leaves the rate to the others until it asks for an allowance again.
  func rest() { control.shares.rest(number) }
}

extension Limits {
  /// How often it is looked at again whether recordings that are still made have earned something, in milliseconds.
  static let liveSharePauseMilliseconds: Int64 = 20
  /// How often the time is compared with a timetable while something is sent, in milliseconds.
  static let rateScheduleMilliseconds: Int64 = 1000
}
