/// Durations for people.
package enum DurationText {
  /// "30 s", "0.35 s"
  package static func seconds(_ milliseconds: Int64) -> String {
    if milliseconds % 1000 == 0 || milliseconds >= 100_000 { return String(milliseconds / 1000) + " s" }
    let hundredths = milliseconds % 1000 / 10
    return String(milliseconds / 1000) + "." + (hundredths < 10 ? "0" : "") + String(hundredths) + " s"
  }

  /// "7:05", "1:07:05"
  package static func clock(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
    let tail = two(seconds / 60 % 60) + ":" + two(seconds % 60)
    return seconds < 3600 ? String(seconds / 60) + ":" + two(seconds % 60) : String(seconds / 3600) + ":" + tail
  }
}
