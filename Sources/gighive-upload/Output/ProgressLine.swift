import Uploader

/// The progress line on a terminal:
///
///     gig.mp4  [########............]  41 %  1.9 GB of 4.7 GB  11.4 MB/s  ETA 4:02
enum ProgressLine {
  /// Several lines, with their bars below each other.
  static func texts(_ files: [(name: String, reading: MeterReading)], columns: Int, _ palette: Palette) -> [String] {
    let names = files.map { shortened($0.name, to: files.count > 1 ? 20 : 30) }
    let nameWidth = names.map { PrintableText.columns(of: $0) }.max() ?? 0
    return files.indices.map { index in
      let name = names[index] + String(repeating: " ", count: nameWidth - PrintableText.columns(of: names[index]))
      return text(name: name, files[index].reading, columns: columns, isOneOfSeveral: files.count > 1, palette)
    }
  }

  /// - Parameter columns: the terminal's width. Parts that do not fit are left out in this order: bar, name, speed, bytes,
  ///   remaining time.
  private static func text(
    name: String, _ meter: MeterReading, columns: Int, isOneOfSeveral: Bool, _ palette: Palette
  ) -> String {
    let percent = min(100, meter.deliveredBytes * 100 / max(1, meter.totalBytes))
    let isSent = meter.deliveredBytes == meter.totalBytes && meter.behindMilliseconds == nil
    let bytes = SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes)
    let rest =
      isSent
      ? "waiting for the server"
      : meter.behindMilliseconds.map { DurationText.clock($0) + " behind" }
        ?? meter.remainingMilliseconds.map { "ETA " + DurationText.clock($0) } ?? "ETA -:--"

    // One column stays free, because some terminals wrap after the last one.
    let room = columns - 1
    let digits = String(percent)
    let padding = isOneOfSeveral ? String(repeating: " ", count: 3 - digits.count) : ""
    let share = padding + digits + " %"
    var parts = [share, rest]
    var length = parts[0].count + 2 + rest.count
    func add(_ part: String, at index: Int) {
      guard length + PrintableText.columns(of: part) + 2 <= room else { return }
      parts.insert(part, at: index)
      length += PrintableText.columns(of: part) + 2
    }
    add(bytes, at: 1)
    if let rate = meter.rateText { add(rate, at: parts.count - 1) }
    add(name, at: 0)
    let barWidth = isOneOfSeveral ? 10 : min(30, room - length - 4)
    if barWidth >= 10, length + barWidth + 4 <= room {
      length += barWidth + 4
      let filled = min(barWidth, Int(percent) * barWidth / 100)
      let bar =
        "[" + palette.text(String(repeating: "#", count: filled), .green)
        + String(repeating: ".", count: barWidth - filled) + "]"
      parts.insert(bar, at: parts.firstIndex(of: share) ?? 0)
    }
    let line = parts.joined(separator: "  ")
    return length <= room ? line : String(parts[parts.count - 2].prefix(max(0, room)))
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

/// The progress lines at the bottom of a terminal. The cursor stays in the first one.
struct ProgressBlock {
  private var lineCount = 0
  private var drawnAt: Int64 = 0
  private var last = ""

  /// Whether it is time to draw again. Figures that change more often are hard to read.
  mutating func isDue(nowMilliseconds now: Int64) -> Bool {
    guard lineCount == 0 || now - drawnAt >= 200 else { return false }
    drawnAt = now
    return true
  }

  mutating func draw(_ lines: [String]) {
    var text = "\r" + lines.joined(separator: "\u{1B}[K\n\r")
    text += lines.count < lineCount ? "\u{1B}[J" : "\u{1B}[K"
    if lines.count > 1 { text += "\u{1B}[" + String(lines.count - 1) + "A" }
    guard text != last else { return }
    last = text
    lineCount = lines.count
    Console.error(text, .progress)
  }

  /// Removes the lines, so that a message can be written.
  mutating func clear() {
    if lineCount > 0 { Console.error(lineCount > 1 ? "\r\u{1B}[J" : "\r\u{1B}[K") }
    lineCount = 0
    last = ""
  }
}

/// How often `--json` reports the progress of each upload.
enum JSONProgressInterval {
  case every(milliseconds: Int64)
  case never
}

/// When output is coloured (`--color`).
enum ColorChoice {
  /// On terminals that have colours, unless $NO_COLOR is set (https://no-color.org).
  case automatic
  case always, never

  /// - Parameter isTerminal: whether the palette is for a terminal.
  func palette(isTerminal: Bool) -> Palette {
    switch self {
    case .always: Palette(isOn: true)
    case .never: Palette(isOn: false)
    case .automatic: Palette(isOn: isTerminal && ColorChoice.isWanted)
    }
  }

  private static var isWanted: Bool {
    guard environmentBytes("NO_COLOR")?.isEmpty ?? true, let terminal = environmentBytes("TERM") else { return false }
    return !terminal.isEmpty && !terminal.elementsEqual("dumb".utf8)
  }
}

/// Colours text, or leaves it as it is.
struct Palette {
  /// SGR parameters (ECMA-48).
  enum Color: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  let isOn: Bool

  func text(_ text: String, _ color: Color) -> String {
    isOn && !text.isEmpty ? "\u{1B}[" + color.rawValue + "m" + text + "\u{1B}[0m" : text
  }
}
