/// Reads text in which a character can be escaped in several ways.
struct EscapedText {
  let text: ArraySlice<UInt8>
  let ignoresCase: Bool

  /// A quick check, which allocates nothing.
  func canStart(with byte: UInt8, at index: Int) -> Bool {
    guard index < text.endIndex else { return false }
    return switch text[index] {
    case ASCII.percent, backslash, UInt8(ascii: "&"), UInt8(ascii: "+"): true
    case let other: isSame(other, byte)
    }
  }

  /// The possible ends of the character at the index, one for each way to write it; nil where the text ends before its
  /// end.
  func ends(of unit: [UInt8], at index: Int) -> [Int?] {
    var ends: [Int?] = []
    if let end = bytewise(unit, at: index) { ends.append(end) }
    guard index < text.endIndex else { return ends }
    switch text[index] {
    case backslash: ends += backslashed(unit, at: index)
    case UInt8(ascii: "&"): ends += entity(unit, at: index)
    case UInt8(ascii: "+") where unit == [ASCII.space]: ends.append(index + 1)
    // A percent sign can also stand for itself.
    case ASCII.percent where unit == [ASCII.percent]:
      switch hexadecimal(2, at: index + 1) {
      case .truncated: ends.append(nil)
      case .value(let value): if value == UInt32(ASCII.percent) { ends.append(index + 3) }
      case .none: break
      }
    default: break
    }
    return ends
  }

  /// Each byte literally, or as "%20".
  /// - Returns: nil if the character is something else.
  private func bytewise(_ unit: [UInt8], at index: Int) -> Int?? {
    var index = index
    for byte in unit {
      guard index < text.endIndex else { return .some(nil) }
      if isSame(text[index], byte) {
        index += 1
        continue
      }
      guard text[index] == ASCII.percent else { return nil }
      switch hexadecimal(2, at: index + 1) {
      case .truncated: return .some(nil)
      case .value(let value) where value < 256 && isSame(UInt8(value), byte): index += 3
      case .value, .none: return nil
      }
    }
    return .some(index)
  }

  /// `\"`, `\n`, `\u00e4`, `\ud83d\ude00` or `\xe4`.
  private func backslashed(_ unit: [UInt8], at index: Int) -> [Int?] {
    guard index + 1 < text.endIndex else { return [nil] }
    let letter = text[index + 1]
    var ends: [Int?] = []
    if unit.count == 1, unescaped(letter) == unit[0] { ends.append(index + 2) }
    switch letter {
    case UInt8(ascii: "u"): ends += unicode(unit, at: index)
    case UInt8(ascii: "x"):
      switch hexadecimal(2, at: index + 2) {
      case .truncated: ends.append(nil)
      case .value(let value): if unit == [UInt8(value)] { ends.append(index + 4) }
      case .none: break
      }
    default: break
    }
    return ends
  }

  private func unicode(_ unit: [UInt8], at index: Int) -> [Int?] {
    switch hexadecimal(4, at: index + 2) {
    case .truncated: return [nil]
    case .none: return []
    case .value(let high) where high >= 0xD800 && high < 0xDC00:
      guard index + 7 < text.endIndex else { return [nil] }
      guard text[index + 6] == backslash, text[index + 7] == UInt8(ascii: "u") else { return [] }
      switch hexadecimal(4, at: index + 8) {
      case .truncated: return [nil]
      case .value(let low) where low >= 0xDC00 && low < 0xE000:
        return isScalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), unit) ? [index + 12] : []
      case .value, .none: return []
      }
    case .value(let value): return isScalar(value, unit) ? [index + 6] : []
    }
  }

  /// `&amp;`, `&#38;` or `&#x26;`.
  private func entity(_ unit: [UInt8], at index: Int) -> [Int?] {
    let rest = text[(index + 1)...].prefix(10)
    guard let end = rest.firstIndex(of: ASCII.semicolon) else {
      let isName = rest.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "#") }
      return isName && rest.endIndex == text.endIndex ? [nil] : []
    }
    let name = rest[..<end]
    let value: UInt32?
    if name.starts(with: "#x".utf8) || name.starts(with: "#X".utf8) {
      let digits = name.dropFirst(2)
      value =
        digits.isEmpty || digits.count > 6
        ? nil
        : digits.reduce(0) { (sum: UInt32?, digit) in
          sum.flatMap { sum in ASCII.hexValue(digit).map { sum << 4 | UInt32($0) } }
        }
    } else if name.first == UInt8(ascii: "#") {
      value = ASCII.decimal(name.dropFirst()).flatMap { UInt32(exactly: $0) }
    } else {
      value = EscapedText.entities.first { name.elementsEqual($0.name.utf8) }.map { UInt32($0.byte) }
    }
    guard let value, isScalar(value, unit) else { return [] }
    return [end + 1]
  }

  private static let entities: [(name: String, byte: UInt8)] = [
    ("amp", UInt8(ascii: "&")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")), ("quot", ASCII.quote),
    ("apos", UInt8(ascii: "'")),
  ]

  private enum Digits {
    case none, truncated
    case value(UInt32)
  }

  private func hexadecimal(_ count: Int, at index: Int) -> Digits {
    var value: UInt32 = 0
    for offset in index..<(index + count) {
      guard offset < text.endIndex else { return .truncated }
      guard let digit = ASCII.hexValue(text[offset]) else { return .none }
      value = value << 4 | UInt32(digit)
    }
    return .value(value)
  }

  private func isScalar(_ value: UInt32, _ unit: [UInt8]) -> Bool {
    guard let scalar = Unicode.Scalar(value) else { return false }
    return Array(String(Character(scalar)).utf8).elementsEqual(unit) { isSame($0, $1) }
  }

  private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "t"): ASCII.tab
    case UInt8(ascii: "n"): ASCII.lineFeed
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "r"): ASCII.carriageReturn
    // A quote, slash or backslash stands for itself.
    default: letter
    }
  }

  private func isSame(_ one: UInt8, _ other: UInt8) -> Bool {
    one == other || (ignoresCase && ASCII.lowercased(one) == ASCII.lowercased(other))
  }
}

private let backslash = UInt8(ascii: "\\")
