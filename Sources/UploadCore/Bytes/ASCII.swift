/// The characters of the protocols' grammars, and tests for classes of bytes (RFC 5234, B.1).
package enum ASCII {
  package static let tab = UInt8(ascii: "\t")
  package static let lineFeed = UInt8(ascii: "\n")
  package static let carriageReturn = UInt8(ascii: "\r")
  package static let space = UInt8(ascii: " ")
  static let quote = UInt8(ascii: "\"")
  package static let percent = UInt8(ascii: "%")
  static let comma = UInt8(ascii: ",")
  package static let hyphen = UInt8(ascii: "-")
  package static let colon = UInt8(ascii: ":")
  static let semicolon = UInt8(ascii: ";")
  package static let slash = UInt8(ascii: "/")
  package static let questionMark = UInt8(ascii: "?")
  static let numberSign = UInt8(ascii: "#")
  package static let delete: UInt8 = 0x7F

  package static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }

  /// CTL: 0–31 and 127.
  package static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == delete }

  /// `tchar` of RFC 9110, 5.6.2.
  package static func isTokenCharacter(_ byte: UInt8) -> Bool {
    if isDigit(byte) || isLetter(byte) { return true }
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      return true
    default:
      return false
    }
  }

  package static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  package static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  /// Two lower-case hexadecimal digits per byte.
  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    appendHex(bytes, to: &digits)
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes of pairs of hexadecimal digits. Others are left out.
  static func bytes(ofHex digits: String) -> [UInt8] {
    let values = digits.utf8.compactMap { hexValue($0) }
    return stride(from: 0, to: values.count / 2 * 2, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  /// All bytes of the number as hexadecimal digits, the highest first.
  package static func hex(_ number: some FixedWidthInteger) -> String {
    hex(stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
  }

  /// Appends two hexadecimal digits per byte.
  package static func appendHex(_ bytes: some Sequence<UInt8>, uppercase: Bool = false, to output: inout [UInt8]) {
    let letters: UInt8 = uppercase ? 0x41 - 10 : 0x61 - 10
    for byte in bytes {
      for digit in [byte >> 4, byte & 15] { output.append(digit < 10 ? 0x30 + digit : letters + digit) }
    }
  }

  /// A number with leading zeros.
  /// - Parameters:
  ///   - number: not negative.
  ///   - width: the least number of digits.
  static func digits(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  /// A number of decimal digits only; nil if there is a sign, a space or no digit, or if it exceeds `Int64.max`.
  package static func decimal(_ digits: some Sequence<UInt8>) -> Int64? {
    var value: Int64?
    for digit in digits {
      guard isDigit(digit) else { return nil }
      let (product, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int64(digit - 0x30))
      if overflow || carry { return nil }
      value = sum
    }
    return value
  }

  /// Whether the bytes contain the text.
  package static func contains(_ bytes: [UInt8], _ text: String) -> Bool { index(of: text, in: bytes) != nil }

  /// Where the text first occurs at or after the start; nil if it does not.
  static func index(of text: String, in bytes: [UInt8], from start: Int = 0) -> Int? {
    let part = Array(text.utf8)
    guard let first = part.first else { return start }
    guard part.count <= bytes.count - start else { return nil }
    return (start...(bytes.count - part.count)).first { start in
      bytes[start] == first && part.indices.allSatisfy { bytes[start + $0] == part[$0] }
    }
  }

  /// Whether the texts are equal, ignoring the case of ASCII letters.
  package static func equalsIgnoringCase(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Bool {
    one.elementsEqual(other) { lowercased($0) == lowercased($1) }
  }

  /// The text with its ASCII letters in lower case.
  package static func lowercased(_ text: String) -> String {
    String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
  }

  /// The bytes without spaces and tabs at either end (OWS, RFC 9110, 5.6.3).
  package static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let first = rest.first, first == space || first == tab { rest = rest.dropFirst() }
    while let last = rest.last, last == space || last == tab { rest = rest.dropLast() }
    return rest
  }
}
