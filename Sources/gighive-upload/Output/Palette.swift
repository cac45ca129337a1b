import Uploader

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
