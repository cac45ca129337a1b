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
  ///   - dayStart: when a day starts, in minutes after midnight.
  func date(now: Int64, modified: Int64?, dayStart: Int) throws(UsageError) -> String {
    let seconds: Int64
    switch self {
    case .given(let text): return text
    case .today: seconds = now
    case .modified: seconds = modified ?? now
    }
    let time = LocalTime(unixSeconds: seconds)
    guard seconds >= Limits.builtOn else {
      let made = String(Timestamp.text(seconds: Limits.builtOn).prefix(10))
      let advice = " Give the date with --event-date YYYY-MM-DD."
      if self == .today {
        throw UsageError(
          "the clock of this machine says " + time.date + ", but this version was released on " + made
            + ". Set the clock, or give the date with --event-date YYYY-MM-DD.")
      }
      throw UsageError(
        "was modified on " + time.date + ", before this version was released (" + made
          + "), so the clock was probably wrong." + advice)
    }
    return time.eventDate(dayStart: dayStart)
  }
}
