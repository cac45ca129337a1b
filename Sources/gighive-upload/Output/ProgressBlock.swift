import Uploader

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

  /// Draws the lines over the previous ones.
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
