import Uploader

/// Sizes and durations as typed on the command line.
enum Quantity {
  /// Bytes: a whole number with an optional unit: k M G T (powers of 1000) or Ki Mi Gi Ti (of 1024), with or without B.
  static func size(_ text: String) -> Int64? {
    number(
      text,
      units: [
        ("", 1), ("B", 1), ("k", 1000), ("kB", 1000), ("K", 1000), ("KB", 1000), ("M", 1_000_000), ("MB", 1_000_000),
        ("G", 1_000_000_000), ("GB", 1_000_000_000), ("T", 1_000_000_000_000), ("TB", 1_000_000_000_000),
        ("Ki", 1 << 10), ("KiB", 1 << 10), ("Mi", 1 << 20), ("MiB", 1 << 20), ("Gi", 1 << 30), ("GiB", 1 << 30),
        ("Ti", 1 << 40), ("TiB", 1 << 40),
      ])
  }

  /// Milliseconds: a whole number greater than zero, with an optional unit: ms, s (the default), m, h, d, w.
  static func duration(_ text: String, upTo limit: Int64 = Limits.timeoutMilliseconds) -> Int64? {
    let milliseconds = number(
      text,
      units: [
        ("", 1000), ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
      ])
    guard let milliseconds, milliseconds > 0, milliseconds <= limit else { return nil }
    return milliseconds
  }

  private static func number(_ text: String, units: [(String, Int64)]) -> Int64? {
    let digits = text.utf8.prefix { ASCII.isDigit($0) }
    let unit = text.utf8.dropFirst(digits.count)
    guard let value = ASCII.decimal(digits), let factor = units.first(where: { $0.0.utf8.elementsEqual(unit) })?.1
    else { return nil }
    let (product, overflow) = value.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }
}
