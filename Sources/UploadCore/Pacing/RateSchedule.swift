/// Rate limits by the time of the week: each entry holds until the next one, as in rclone's timetables.
public struct RateSchedule: Equatable, Sendable {
  struct Entry: Equatable, Sendable {
    /// Minutes since Sunday, 00:00.
    let minute: Int
    let limit: RateLimit
  }

  /// In the order of their times; one at 0 if the limit never changes.
  let entries: [Entry]

  /// The same limit at any time.
  public init(_ limit: RateLimit) { entries = [Entry(minute: 0, limit: limit)] }

  init(_ entries: [Entry]) { self.entries = entries }

  /// No limit.
  public static let unlimited = RateSchedule(.unlimited)

  package var isConstant: Bool { entries.count == 1 }

  /// Whether it never limits anything.
  package var isUnlimited: Bool { entries.allSatisfy { $0.limit == .unlimited } }

  /// The limit that holds where the time is not known.
  package var strictest: RateLimit { entries.map { $0.limit }.min() ?? .unlimited }

  /// The rates in it, in bytes per second.
  package var rates: [Int64] {
    entries.compactMap { if case .bytesPerSecond(let rate) = $0.limit { rate } else { nil } }
  }

  /// - Parameter minute: the minutes since Sunday, 00:00, local time; nil if the time is not known.
  package func limit(atMinute minute: Int?) -> RateLimit {
    guard let minute else { return strictest }
    // Before the first entry of the week, the last one of the week before holds.
    return (entries.last { $0.minute <= minute } ?? entries[entries.count - 1]).limit
  }
}

// MARK: Timetables

/// Why a timetable cannot be used.
package enum RateScheduleError: Error, Equatable, Sendable {
  /// More entries than the limit.
  case tooLong(limit: Int)
  /// Not `HH:MM,RATE` or `Day-HH:MM,RATE`.
  case entry(String)
  /// Not a rate, `off` or `pause`.
  case rate(String)
  /// Two entries for the same time.
  case repeated(String)
  /// It has only pauses, so that nothing would ever be sent.
  case pausesForever
}

extension RateSchedule {
  /// Parses a rate (`1M`, `off`, `0`) or a timetable: entries such as `08:00,512k` (every day) or `Sat-10:00,off`, separated by
  /// spaces. `pause` sends nothing.
  /// - Parameter rate: parses a rate in bytes per second.
  package init(parsing text: String, rate: (String) -> Int64?) throws(RateScheduleError) {
    func limit(_ word: String) throws(RateScheduleError) -> RateLimit {
      switch word {
      case "off", "0": return .unlimited
      case "pause": return .paused
      default:
        guard let number = rate(word), AllowedRanges.rate.contains(number) else { throw .rate(word) }
        return .bytesPerSecond(number)
      }
    }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map { String($0) }
    guard words.count <= Limits.rateScheduleCount else { throw .tooLong(limit: Limits.rateScheduleCount) }
    if words.count == 1, !words[0].utf8.contains(ASCII.comma) {
      self.init(try limit(words[0]))
    } else {
      guard !words.isEmpty else { throw .entry("") }
      var entries: [Entry] = []
      for word in words {
        guard let comma = word.utf8.firstIndex(of: ASCII.comma), let minutes = RateSchedule.minutes(word.utf8[..<comma])
        else { throw .entry(word) }
        let limit = try limit(String(word[word.index(after: comma)...]))
        for minute in minutes {
          guard !entries.contains(where: { $0.minute == minute }) else { throw .repeated(word) }
          entries.append(Entry(minute: minute, limit: limit))
        }
      }
      self.init(entries.sorted { $0.minute < $1.minute })
    }
    guard entries.contains(where: { $0.limit != .paused }) else { throw .pausesForever }
  }

  /// The times of an entry in the week: one with a day, else seven.
  private static func minutes(_ text: Substring.UTF8View) -> [Int]? {
    let parts = text.split(separator: ASCII.hyphen, maxSplits: 1, omittingEmptySubsequences: false)
    guard let last = parts.last, let minute = minuteOfDay(last) else { return nil }
    guard parts.count == 2 else { return (0..<7).map { $0 * 1440 + minute } }
    return day(parts[0]).map { [$0 * 1440 + minute] }
  }

  /// `HH:MM`, 00:00 to 23:59.
  private static func minuteOfDay(_ text: Substring.UTF8View) -> Int? {
    let parts = text.split(separator: ASCII.colon, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hour = ASCII.decimal(parts[0]),
      let minute = ASCII.decimal(parts[1]), hour < 24, minute < 60
    else { return nil }
    return Int(hour * 60 + minute)
  }

  /// Three letters or the whole name, in any case.
  private static func day(_ text: Substring.UTF8View) -> Int? {
    let word = ASCII.lowercased(String(Substring(text)))
    let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    return names.firstIndex { $0 == word || $0.prefix(3) == word }
  }
}

/// How fast uploads may be sent.
public enum RateLimit: Equatable, Sendable {
  case paused
  /// 1 to 10^12.
  case bytesPerSecond(Int64)
  case unlimited
}

extension RateLimit: Comparable {
  private var rank: Int64 {
    switch self {
    case .paused: 0
    case .bytesPerSecond(let rate): rate
    case .unlimited: .max
    }
  }

  /// Whether the first limit is the stricter one.
  public static func < (one: RateLimit, other: RateLimit) -> Bool { one.rank < other.rank }
}

extension Limits {
  /// Entries of a timetable of rate limits: one an hour, for workdays and weekends, several times over.
  static let rateScheduleCount = 128
}
