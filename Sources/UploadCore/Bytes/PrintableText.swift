/// Makes text from outside, such as server messages and file names, safe to show.
package enum PrintableText {
  /// The text on one line, without terminal control sequences. Control characters (C0, DEL, C1), line and paragraph
  /// separators and bidirectional marks become "�". Runs of spaces and line breaks become one space.
  /// - Parameter limit: the number of characters to keep; a longer text ends in "…".
  package static func line(_ text: String, limit: Int = Limits.quotedMessageLength) -> String {
    var result = ""
    var length = 0
    var pendingSpace = false
    for scalar in text.unicodeScalars {
      if scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" {
        pendingSpace = length > 0
        continue
      }
      if length + (pendingSpace ? 1 : 0) >= limit { return result + "…" }
      if pendingSpace {
        result += " "
        length += 1
        pendingSpace = false
      }
      result.unicodeScalars.append(isHarmless(scalar) ? scalar : "\u{FFFD}")
      length += 1
    }
    return result
  }

  /// Bytes that should be UTF-8, such as a file name. Invalid bytes are written as `\xe9`.
  package static func escaped(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = ""
    var at = 0
    while at < bytes.count {
      let length = (1...4).first { at + $0 <= bytes.count && isCharacter(bytes[at..<(at + $0)]) }
      if let length {
        text += String(decoding: bytes[at..<(at + length)], as: UTF8.self)
      } else {
        var digits: [UInt8] = []
        ASCII.appendHex([bytes[at]], to: &digits)
        text += "\\x" + String(decoding: digits, as: UTF8.self)
      }
      at += length ?? 1
    }
    return text
  }

  private static func isCharacter(_ bytes: ArraySlice<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// The URI without its query, which can contain a token, and without a user name and password.
  package static func withoutSecrets(_ uri: String) -> String {
    var path = Array(uri.utf8.prefix { $0 != UInt8(ascii: "?") })
    let isCut = path.count < uri.utf8.count
    if let slashes = ASCII.index(of: "//", in: path) {
      let authority = path[(slashes + 2)...].prefix { $0 != ASCII.slash }
      if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
        path.replaceSubrange(authority.startIndex..<at, with: "…".utf8)
      }
    }
    return String(decoding: path, as: UTF8.self) + (isCut ? "?…" : "")
  }

  /// The most columns the text can take: from Hangul on, characters (and each mark of an emoji) can be two columns wide.
  package static func columns(of text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 || ($1.value >= 0x2010 && $1.value < 0x2100) ? 1 : 2) }
  }

  /// Whether the character is no terminal control character.
  static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false
    case 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
    default: true
    }
  }
}

extension Limits {
  /// How much of a server's message is quoted, in characters.
  package static let quotedMessageLength = 300
}
