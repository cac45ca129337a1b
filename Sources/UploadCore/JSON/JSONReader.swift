package enum JSONError: Error, Equatable {
  /// The byte at `offset` is unexpected, or the text ends there.
  case unexpected(offset: Int)
  case tooDeep(limit: Int)
}

/// Parses one JSON text, strictly by RFC 8259: UTF-8, no comments, no trailing commas, nothing after the value.
package struct JSONReader {
  private let bytes: [UInt8]
  private var offset = 0

  /// - Parameter bytes: the whole text. A byte order mark is refused.
  package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    var reader = JSONReader(bytes: bytes)
    let value = try reader.readValue(depth: 0)
    reader.skipSpace()
    guard reader.offset == bytes.count else { throw .unexpected(offset: reader.offset) }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard take(byte) else { throw .unexpected(offset: offset) }
  }

  private mutating func readValue(depth: Int) throws(JSONError) -> JSONValue {
    skipSpace()
    guard let byte = next else { throw .unexpected(offset: offset) }
    switch byte {
    case UInt8(ascii: "{"): return try readObject(depth: depth + 1)
    case UInt8(ascii: "["): return try readArray(depth: depth + 1)
    case ASCII.quote: return .string(try readString())
    case UInt8(ascii: "t"): return try readWord("true", .bool(true))
    case UInt8(ascii: "f"): return try readWord("false", .bool(false))
    case UInt8(ascii: "n"): return try readWord("null", .null)
    default: return .number(try readNumber())
    }
  }

  private mutating func readWord(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
    for byte in word.utf8 { try expect(byte) }
    return value
  }

  private mutating func readObject(depth: Int) throws(JSONError) -> JSONValue {
    guard depth <= Limits.jsonDepth else { throw .tooDeep(limit: Limits.jsonDepth) }
    try expect(UInt8(ascii: "{"))
    var members: [JSONValue.Member] = []
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipSpace()
      let name = try readString()
      skipSpace()
      try expect(ASCII.colon)
      members.append(JSONValue.Member(name: name, value: try readValue(depth: depth)))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func readArray(depth: Int) throws(JSONError) -> JSONValue {
    guard depth <= Limits.jsonDepth else { throw .tooDeep(limit: Limits.jsonDepth) }
    try expect(UInt8(ascii: "["))
    var elements: [JSONValue] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat {
      elements.append(try readValue(depth: depth))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    return .array(elements)
  }

  /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
  private mutating func readNumber() throws(JSONError) -> String {
    let start = offset
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try skipDigits() }
    if take(UInt8(ascii: ".")) { try skipDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try skipDigits()
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func skipDigits() throws(JSONError) {
    guard let first = next, ASCII.isDigit(first) else { throw .unexpected(offset: offset) }
    while let byte = next, ASCII.isDigit(byte) { offset += 1 }
  }

  private mutating func readString() throws(JSONError) -> String {
    try expect(ASCII.quote)
    let start = offset
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case ASCII.quote:
        guard let string = String(validating: text, as: UTF8.self) else { throw .unexpected(offset: start) }
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        offset += 1
        try readEscape(into: &text)
      case 0..<0x20:
        throw .unexpected(offset: offset)
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw .unexpected(offset: offset)
  }

  private mutating func readEscape(into text: inout [UInt8]) throws(JSONError) {
    guard let byte = next else { throw .unexpected(offset: offset) }
    offset += 1
    switch byte {
    case ASCII.quote, UInt8(ascii: "\\"), ASCII.slash: text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(try readUnicodeEscape()).utf8)
    default: throw .unexpected(offset: offset - 1)
    }
  }

  /// The four digits after `\u`, and a second escape if they are the first half of a surrogate pair. An unpaired
  /// half, which the grammar allows, becomes U+FFFD.
  private mutating func readUnicodeEscape() throws(JSONError) -> Character {
    let first = try readFourHexDigits()
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    let afterFirst = offset
    if first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
      let second = try readFourHexDigits()
      if second >= 0xDC00, second < 0xE000,
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return Character(scalar)
      }
    }
    offset = afterFirst
    return "\u{FFFD}"
  }

  private mutating func readFourHexDigits() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = ASCII.hexValue(byte) else { throw .unexpected(offset: offset) }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}

/// A JSON value (RFC 8259). Numbers keep their spelling, because identifiers can exceed the precision of a Double.
package indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue
  }

  /// The member of an object with this name. If a name is repeated, the last one counts, as in most parsers.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name == name }?.value
  }

  /// The members of an object, in order; empty for other values.
  package var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }

  /// The elements of an array; empty for other values.
  package var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// An integer, even if it is written as a string of digits, as PHP often does.
  package var integer: Int64? {
    switch self {
    case .number(let text), .string(let text): Int64(text)
    default: nil
    }
  }
}

extension Limits {
  /// The depth of nested arrays and objects in a JSON text.
  package static let jsonDepth = 64
}
