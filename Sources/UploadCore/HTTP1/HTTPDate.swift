/// Dates in HTTP fields (RFC 9110, 5.6.7).
package enum HTTPDate {
  /// Seconds since 1970 for a date in one of HTTP's three formats:
  ///
  ///     Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate
  ///     Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
  ///     Sun Nov  6 08:49:37 1994          asctime
  ///
  /// nil for anything else. The day of the week is not checked. Two-digit years from 69 on are in the 1900s, as in POSIX's
  /// strptime. In RFC 9110 this depends on the current date, which boards often do not know.
  package static func seconds(_ text: String) -> Int64? {
    let words = Array(text.utf8).split(separator: ASCII.space)
    switch words.count {
    case 6 where words[5].elementsEqual("GMT".utf8):
      return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
    case 4 where words[3].elementsEqual("GMT".utf8):
      let date = words[1].split(separator: UInt8(ascii: "-"))
      guard date.count == 3 else { return nil }
      return seconds(day: date[0], month: date[1], year: date[2], time: words[2], hasCentury: false)
    case 5: return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
    default: return nil
    }
  }

  private typealias Word = ArraySlice<UInt8>

  private static func seconds(day: Word, month: Word, year: Word, time: Word, hasCentury: Bool = true) -> Int64? {
    let clock = time.split(separator: ASCII.colon, omittingEmptySubsequences: false)
    guard let day = number(day, digits: 1...2), day >= 1, day <= 31,
      let monthIndex = months.firstIndex(where: { month.elementsEqual($0.utf8) }),
      var year = number(year, digits: hasCentury ? 4...4 : 2...2), clock.count == 3,
      let hour = number(clock[0], digits: 2...2), hour < 24, let minute = number(clock[1], digits: 2...2), minute < 60,
      // A leap second counts as the first second of the next minute.
      let second = number(clock[2], digits: 2...2), second <= 60
    else { return nil }
    if !hasCentury { year += year < 69 ? 2000 : 1900 }
    guard day <= GregorianCalendar.dayCount(year: year, month: Int64(monthIndex) + 1) else { return nil }
    return GregorianCalendar.days(year: year, month: Int64(monthIndex) + 1, day: day) * 86_400 + hour * 3600 + minute
      * 60 + second
  }

  private static func number(_ word: Word, digits: ClosedRange<Int>) -> Int64? {
    digits.contains(word.count) ? ASCII.decimal(word) : nil
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
