/// Retry-After in the first line, Date in the second.
enum RetryAfterTarget {
  static func run(_ input: [UInt8]) {
    let lines = input.lines(2)
    var fields = [Field("Retry-After", lines[0].text)]
    if !lines[1].isEmpty { fields.append(Field("Date", lines[1].text)) }
    for now in [0, 1_795_219_200, Int64.max / 2] {
      guard let delay = RetryAfter.milliseconds(fields, nowSeconds: now) else { continue }
      require(delay >= 0 && delay <= Limits.retryAfterMilliseconds, "a delay of \(delay) ms")
    }
    // The year 10000, which a leap second at the end of 9999 reaches, cannot be written.
    guard let seconds = HTTPDate.seconds(lines[0].text), seconds < 253_402_300_800 else { return }
    let written = imfFixdate(seconds)
    require(HTTPDate.seconds(written) == seconds, "\(written) is another time than \(seconds)")
    let fixed = RetryAfter.milliseconds([fields[0], Field("Date", written)], nowSeconds: 0)
    require(fixed == 0, "by the server's own clock that was now")
  }

  static func show(_ input: [UInt8]) -> String {
    HTTPDate.seconds(input.lines(2)[0].text).map { "accept \($0)" } ?? "refuse"
  }

  /// The date by counting years and months down. From year 1 on.
  private static func imfFixdate(_ seconds: Int64) -> String {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    var days = Int(seconds / 86_400) + 719_162
    let time = Int(seconds % 86_400)
    guard seconds % 86_400 >= 0, days >= 0 else { return early(seconds) }
    var year = 1
    func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    year += days / 146_097 * 400
    days %= 146_097
    while days >= (isLeap(year) ? 366 : 365) {
      days -= isLeap(year) ? 366 : 365
      year += 1
    }
    var month = 0
    let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    while days >= lengths[month] {
      days -= lengths[month]
      month += 1
    }
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
    return "Sun, \(padded(days + 1, 2)) \(names[month]) \(padded(year, 4)) \(clock) GMT"
  }

  /// Before 1970: 400 years later the calendar is the same.
  private static func early(_ seconds: Int64) -> String {
    let later = imfFixdate(seconds + 146_097 * 86_400 * 5)
    let words = later.utf8.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    let year = (Int(words[3]) ?? 0) - 2000
    return "Sun, \(words[1]) \(words[2]) \(padded(year, 4)) \(words[4]) GMT"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
