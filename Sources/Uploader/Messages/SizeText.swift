/// Sizes for people.
package enum SizeText {
  /// With a decimal unit and at most one decimal: "4.7 GB".
  package static func short(_ bytes: Int64) -> String {
    var unit = 0
    var divisor: Int64 = 1
    while unit < units.count - 1, bytes / divisor >= 1000 {
      divisor *= 1000
      unit += 1
    }
    return unit == 0 ? String(bytes) + " B" : tenths(bytes / (divisor / 10)) + " " + units[unit]
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

  private static func tenths(_ number: Int64) -> String { String(number / 10) + "." + String(number % 10) }
}
