/// Times for programs (RFC 3339), in UTC with milliseconds: `2026-11-23T08:00:00.123Z`.
package enum Timestamp {
  /// Times outside the years 0000 to 9999, which the format cannot express, become the first or last one that it can.
  /// - Parameter milliseconds: since 1970.
  package static func text(milliseconds: Int64) -> String {
    let shown = min(max(milliseconds, first), last)
    let inDay = ((shown % dayLength) + dayLength) % dayLength
    let date = GregorianCalendar.date(ofDay: (shown - inDay) / dayLength)
    let seconds = inDay / 1000
    return ASCII.digits(date.year, 4) + "-" + ASCII.digits(date.month, 2) + "-" + ASCII.digits(date.day, 2) + "T"
      + ASCII.digits(seconds / 3600, 2) + ":" + ASCII.digits(seconds / 60 % 60, 2) + ":" + ASCII.digits(seconds % 60, 2)
      + "."
      + ASCII.digits(inDay % 1000, 3) + "Z"
  }

  /// - Parameters:
  ///   - seconds: since 1970.
  ///   - nanoseconds: 0 to 999,999,999, later than that.
  package static func text(seconds: Int64, nanoseconds: Int64 = 0) -> String {
    text(milliseconds: min(max(seconds, first / 1000), last / 1000) * 1000 + nanoseconds / 1_000_000 % 1000)
  }

  /// For people: "2026-11-23 19:28 UTC"
  /// - Parameter seconds: since 1970.
  static func minuteText(seconds: Int64) -> String { minuteText(text(seconds: seconds)) }

  /// - Parameter text: "2026-11-23T19:28:31.042Z"
  static func minuteText(_ text: String) -> String {
    String(text.prefix(10)) + " " + String(text.dropFirst(11).prefix(5)) + " UTC"
  }

  private static let dayLength: Int64 = 86_400_000
  /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
  private static let first: Int64 = -62_167_219_200_000
  private static let last: Int64 = 253_402_300_799_999
}

/// The Gregorian calendar, without a time zone.
enum GregorianCalendar {
  /// Days since 1970-01-01 in the Gregorian calendar. Years start in March here, so that a leap day is the last of its year.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Shifted by 400 years, because division rounds towards zero.
    let y = (month <= 2 ? year - 1 : year) + 400
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468 - 146_097
  }

  /// The date of a day in the Gregorian calendar.
  /// - Parameter day: since 1970-01-01, from the year 0 on.
  static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Counted from a 1st of March. Shifted by 400 years, because division rounds towards zero.
    let shifted = day + 719_468 + 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = shifted / 146_097 * 400 + yearOfEra - 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  /// The number of days in a month of the Gregorian calendar.
  /// - Parameter month: 1 to 12.
  static func dayCount(year: Int64, month: Int64) -> Int64 {
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return lengths[Int(month) - 1]
  }
}

package struct LocalTime: Equatable, Sendable {
  package let year: Int
  /// From 1.
  package let month: Int
  /// From 1.
  package let day: Int
  package let hour: Int
  package let minute: Int

  package init(year: Int, month: Int, day: Int, hour: Int, minute: Int) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
  }

  /// Its date, YYYY-MM-DD.
  package var date: String { EventForm.calendarDay(year: year, month: month, day: day) }

  /// Its time, HH-MM, because some file systems do not allow colons in names.
  package var time: String { ASCII.digits(Int64(hour), 2) + "-" + ASCII.digits(Int64(minute), 2) }

  /// The date of the event that it belongs to, YYYY-MM-DD.
  /// - Parameter dayStart: when a day starts, in minutes after midnight. Earlier times belong to the day before.
  package func eventDate(dayStart: Int) -> String {
    guard hour * 60 + minute < dayStart else { return date }
    let before = GregorianCalendar.date(
      ofDay: GregorianCalendar.days(year: Int64(year), month: Int64(month), day: Int64(day)) - 1)
    return EventForm.calendarDay(year: Int(before.year), month: Int(before.month), day: Int(before.day))
  }

  /// Minutes after midnight for HH:MM; nil for anything else.
  package static func minutes(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == ASCII.colon, let hour = ASCII.decimal(bytes[..<2]), hour < 24,
      let minute = ASCII.decimal(bytes[3...]), minute < 60
    else { return nil }
    return Int(hour * 60 + minute)
  }
}
