/// Sizes for people.
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
