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
