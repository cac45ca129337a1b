package enum SizeText {
  /// With a decimal unit and at most one decimal, rounded: "4.7 GB".
  package static func short(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return String(bytes) + " B" }
    var unit = 1
    var tenth: Int64 = 100
    // 999,950 bytes are a megabyte, not 1000.0 kB.
    while unit < units.count - 1, rounded(bytes, to: tenth) >= 10_000 {
      tenth *= 1000
      unit += 1
    }
    let tenths = rounded(bytes, to: tenth)
    return String(tenths / 10) + "." + String(tenths % 10) + " " + units[unit]
  }

  private static func rounded(_ bytes: Int64, to step: Int64) -> Int64 {
    bytes / step + (bytes % step >= step / 2 ? 1 : 0)
  }

  /// With all digits: "4710000000 bytes".
  package static func exact(_ bytes: Int64) -> String { String(bytes) + (bytes == 1 ? " byte" : " bytes") }

  /// A speed with a decimal unit and at most one decimal: "11.4 MB/s".
  package static func rate(bytes: Int64, milliseconds: Int64) -> String {
    let (product, isOverflow) = bytes.multipliedReportingOverflow(by: 1000)
    let perSecond = isOverflow ? bytes / max(1, milliseconds / 1000) : product / max(1, milliseconds)
    return short(perSecond) + "/s"
  }

  private static let units = ["B", "kB", "MB", "GB", "TB"]
}

package enum DurationText {
  /// "30 s", "0.35 s"
  package static func seconds(_ milliseconds: Int64) -> String {
    if milliseconds % 1000 == 0 || milliseconds >= 100_000 { return String(milliseconds / 1000) + " s" }
    let hundredths = milliseconds % 1000 / 10
    return String(milliseconds / 1000) + "." + (hundredths < 10 ? "0" : "") + String(hundredths) + " s"
  }

  /// "40 s", "58 min", "3 h 20 min", "2 d 4 h". Seconds are rounded up: there is no "0 s" of something.
  package static func rough(_ milliseconds: Int64) -> String {
    let (seconds, minutes, hours) = ((milliseconds + 999) / 1000, milliseconds / 60_000, milliseconds / 3_600_000)
    if minutes == 0 { return String(seconds) + " s" }
    if hours == 0 { return String(minutes) + " min" }
    if hours < 24 { return String(hours) + " h" + (minutes % 60 > 0 ? " " + String(minutes % 60) + " min" : "") }
    return String(hours / 24) + " d" + (hours % 24 > 0 ? " " + String(hours % 24) + " h" : "")
  }

  /// "2026-11-24 08:00 UTC"
  /// - Parameter unixSeconds: since 1970.
  package static func moment(_ unixSeconds: Int64) -> String {
    // To the next minute, so that it is not too early.
    Timestamp.minuteText(seconds: (min(unixSeconds, .max - 59) + 59) / 60 * 60)
  }

  /// "7:05", "1:07:05"
  package static func clock(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
    let tail = two(seconds / 60 % 60) + ":" + two(seconds % 60)
    return seconds < 3600 ? String(seconds / 60) + ":" + two(seconds % 60) : String(seconds / 3600) + ":" + tail
  }
}
