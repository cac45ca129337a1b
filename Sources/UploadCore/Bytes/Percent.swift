/// Percent-encoding (RFC 3986, 2.1): any bytes as visible ASCII.
package enum Percent {
  /// Encodes everything but letters, digits and `- . _ ~ / : = , + @`.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(bytes, butNot: plain) }

  /// The same for one segment of a URL's path: encodes everything but the unreserved characters (RFC 3986, 2.3).
  package static func encode(segment bytes: some Sequence<UInt8>) -> String { encode(bytes, butNot: unreserved) }

  private static func encode(_ bytes: some Sequence<UInt8>, butNot plain: [UInt8]) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if ASCII.isLetter(byte) || ASCII.isDigit(byte) || plain.contains(byte) {
        text.append(byte)
      } else {
        text.append(ASCII.percent)
        ASCII.appendHex([byte], uppercase: true, to: &text)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// nil if a percent sign is not followed by two hexadecimal digits.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)[...]) }

  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == ASCII.percent else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ ASCII.hexValue($0) }),
        let low = rest.popFirst().flatMap({ ASCII.hexValue($0) })
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static let unreserved = Array("-._~".utf8)
  private static let plain = unreserved + Array("/:=,+@".utf8)
}
