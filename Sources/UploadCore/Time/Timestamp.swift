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
  package static func minuteText(seconds: Int64) -> String {
    let text = text(seconds: seconds)
    return String(text.prefix(10)) + " " + String(text.dropFirst(11).prefix(5)) + " UTC"
  }

  private static let dayLength: Int64 = 86_400_000
  /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
  private static let first: Int64 = -62_167_219_200_000
  private static let last: Int64 = 253_402_300_799_999
}
