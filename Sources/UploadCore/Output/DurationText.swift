/// Durations for people.
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
    Timestamp.minuteText(seconds: (unixSeconds + 59) / 60 * 60)
  }

  /// "7:05", "1:07:05"
  package static func clock(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
    let tail = two(seconds / 60 % 60) + ":" + two(seconds % 60)
    return seconds < 3600 ? String(seconds / 60) + ":" + two(seconds % 60) : String(seconds / 3600) + ":" + tail
  }
}
