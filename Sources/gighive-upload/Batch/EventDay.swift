import CShims
import Uploader

/// Where the date of an event comes from.
enum EventDay: Equatable {
  case today
  /// The file's modification time.
  case modified
  case given(String)

  /// - Returns: what an option says, or nil if there is none.
  init?(of options: [GivenOption]) {
    guard let text = options.last(where: { $0.option == .eventDate })?.text, !text.isEmpty else { return nil }
    switch text {
    case "today": self = .today
    case "mtime": self = .modified
    default: self = .given(text)
    }
  }

  var isGiven: Bool { if case .given = self { true } else { false } }

  /// The date, YYYY-MM-DD.
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - modified: the same; nil for no file.
  ///   - isFound: whether the file was found in a directory.
  ///   - dayStart: when a day starts, in minutes after midnight.
  func date(now: Int64, modified: Int64?, isFound: Bool = false, dayStart: Int) throws(UsageError) -> String {
    var seconds: Int64
    switch self {
    case .given(let text): return text
    case .today:
      guard now >= Limits.builtOn else {
        throw UsageError(EventDay.clock(now) + ", but " + EventDay.made + ". Set the clock," + EventDay.advice)
      }
      seconds = now
    case .modified:
      seconds = modified ?? now
      if let doubt = ModificationTimeDoubt(modified: seconds, now: now) {
        guard isFound, doubt.meansToday(now: now) else {
          throw UsageError(EventDay.text(of: doubt, modified: LocalTime(unixSeconds: seconds).date, now: now))
        }
        seconds = now
      }
    }
    return LocalTime(unixSeconds: seconds).eventDate(dayStart: dayStart)
  }

  private static let advice = " or give the date with --event-date YYYY-MM-DD."

  private static func clock(_ now: Int64) -> String {
    "the clock of this machine says " + LocalTime(unixSeconds: now).date
  }

  private static let made = "this version was released on " + Timestamp.text(seconds: Limits.builtOn).prefix(10)

  /// What follows the name of a file.
  private static func text(of doubt: ModificationTimeDoubt, modified: String, now: Int64) -> String {
    let modified = "was modified on " + modified
    return switch doubt {
    case .neverSet: modified + ", when the clock was not set. Give the date with --event-date YYYY-MM-DD."
    case .wrongClock: modified + ", but " + clock(now) + ", and " + made + ". Set the clock," + advice
    case .future: modified + ", more than a year from now: " + clock(now) + ". Set the clock if it is wrong," + advice
    }
  }
}
