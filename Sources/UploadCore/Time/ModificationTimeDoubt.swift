/// Why a file's modification time may not say on which day it was recorded.
package enum ModificationTimeDoubt: Equatable, Sendable {
  /// It is from a clock that was never set, such as one that starts in 1970.
  case neverSet
  /// It is from before this program was made, as is the time of this machine's clock, which may have set it.
  case wrongClock
  /// It is far in the future.
  case future

  /// - Parameters:
  ///   - modified: seconds since 1970.
  ///   - now: the same, by this machine's clock.
  /// - Returns: nil if there is no doubt: while the clock is right, an old time is that of an old recording.
  package init?(modified: Int64, now: Int64) {
    if modified < Limits.clocksAreSetSince {
      self = .neverSet
    } else if now < Limits.builtOn {
      guard modified < Limits.builtOn else { return nil }
      self = .wrongClock
    } else if modified > now + Limits.futureSeconds {
      self = .future
    } else {
      return nil
    }
  }

  /// Whether a file that was found in a directory, perhaps just now, gets today's date: a camera without a clock never has another one.
  package func meansToday(now: Int64) -> Bool { self == .neverSet && now >= Limits.builtOn }
}
