/// A local wall-clock time.
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
