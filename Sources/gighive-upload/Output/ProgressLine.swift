import Uploader

/// The progress line on a terminal:
///
///     gig.mp4  [########............]  41 %  1.9 GB of 4.7 GB  11.4 MB/s  ETA 4:02
enum ProgressLine {
  /// - Parameter columns: the terminal's width. Parts that do not fit are left out in this order: bar, name, speed, bytes,
  ///   remaining time.
  static func text(name: String, _ meter: MeterReading, columns: Int) -> String {
    let percent = meter.deliveredBytes * 100 / max(1, meter.totalBytes)
    let isSent = meter.deliveredBytes == meter.totalBytes
    let bytes = SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes)
    let rest =
      isSent
      ? "waiting for the server"
      : meter.remainingMilliseconds.map { "ETA " + DurationText.clock($0) } ?? "ETA -:--"

    // One column stays free, because some terminals wrap after the last one.
    let room = columns - 1
    var parts = [String(percent) + " %", rest]
    var length = parts[0].count + 2 + rest.count
    func add(_ part: String, at index: Int) {
      guard length + PrintableText.columns(of: part) + 2 <= room else { return }
      parts.insert(part, at: index)
      length += PrintableText.columns(of: part) + 2
    }
    add(bytes, at: 1)
    if let rate = meter.rateText { add(rate, at: parts.count - 1) }
    add(shortened(name, to: 30), at: 0)
    let barWidth = min(30, room - length - 4)
    if barWidth >= 10 {
      add(bar(percent: Int(percent), width: barWidth), at: parts.firstIndex(of: String(percent) + " %") ?? 0)
    }
    let line = parts.joined(separator: "  ")
    return length <= room ? line : String(parts[parts.count - 2].prefix(max(0, room)))
  }

  private static func bar(percent: Int, width: Int) -> String {
    let filled = min(width, percent * width / 100)
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
  }

  /// Shortens long names in the middle.
  private static func shortened(_ name: String, to limit: Int) -> String {
    if PrintableText.columns(of: name) <= limit { return name }
    var head = name.prefix(limit)
    var tail = name.suffix(limit)
    while PrintableText.columns(of: head) > limit - 13 { head.removeLast() }
    while PrintableText.columns(of: tail) > 12 { tail.removeFirst() }
    return String(head) + "…" + String(tail)
  }
}
