/// Sizes as people read them.
public enum SizeText {
  /// With a decimal unit and at most one decimal: "4.7 GB".
  public static func short(_ bytes: Int64) -> String {
    var unit = 0
    var divisor: Int64 = 1
    while unit < units.count - 1, bytes / divisor >= 1000 {
      divisor *= 1000
      unit += 1
    }
    return unit == 0 ? String(bytes) + " B" : tenths(bytes / (divisor / 10)) + " " + units[unit]
  }

  /// With all digits: "4710000000 bytes".
  public static func exact(_ bytes: Int64) -> String { String(bytes) + (bytes == 1 ? " byte" : " bytes") }

  /// A speed in megabytes a second with one decimal: "11.4 MB/s".
  public static func rate(bytes: Int64, milliseconds: Int64) -> String {
    tenths(bytes / max(1, milliseconds) / 100) + " MB/s"
  }

  private static let units = ["B", "kB", "MB", "GB", "TB"]

  private static func tenths(_ number: Int64) -> String { String(number / 10) + "." + String(number % 10) }
}

/// Durations as people read them.
public enum DurationText {
  /// "30 s", "0.35 s"
  public static func seconds(_ milliseconds: Int64) -> String {
    if milliseconds % 1000 == 0 || milliseconds >= 100_000 { return String(milliseconds / 1000) + " s" }
    let hundredths = milliseconds % 1000 / 10
    return String(milliseconds / 1000) + "." + (hundredths < 10 ? "0" : "") + String(hundredths) + " s"
  }

  /// "7:05", "1:07:05"
  public static func clock(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
    let tail = two(seconds / 60 % 60) + ":" + two(seconds % 60)
    return seconds < 3600 ? String(seconds / 60) + ":" + two(seconds % 60) : String(seconds / 3600) + ":" + tail
  }
}
