/// An IPv4 or IPv6 address (RFC 4291, 2.2), as parsed by inet_pton(3): four decimal numbers, or groups of hexadecimal digits,
/// with `::` for a run of zeros.
package struct IPAddress: Equatable, Sendable {
  /// 4 or 16 bytes, in network order.
  package let bytes: [UInt8]

  /// nil if the text is not an address. A zone (`%eth0`) is not part of it.
  package init?(_ text: some Sequence<UInt8>) {
    let text = Array(text)
    guard let bytes = text.contains(ASCII.colon) ? IPAddress.version6(text) : IPAddress.version4(text[...]) else {
      return nil
    }
    self.bytes = bytes
  }

  /// 4 or 16 bytes in network order; nil for any other count.
  package init?(octets: some Collection<UInt8>) {
    guard octets.count == 4 || octets.count == 16 else { return nil }
    bytes = Array(octets)
  }

  /// Whether both addresses have the same prefix. Addresses of different versions never do.
  /// - Parameter bits: the length of the prefix.
  package func shares(_ bits: Int, with other: IPAddress) -> Bool {
    guard bytes.count == other.bytes.count, bits <= bytes.count * 8 else { return false }
    let (whole, rest) = (bits / 8, bits % 8)
    guard bytes.prefix(whole).elementsEqual(other.bytes.prefix(whole)) else { return false }
    return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> UInt8(8 - rest) == 0
  }

  /// Whether it is link-local (fe80::/10), and so needs a zone (RFC 4007, 6).
  package var isLinkLocal: Bool { bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

  /// Four numbers up to 255, without leading zeros, which some parsers take as octal.
  private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let parts = text.split(separator: dot, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard part.count <= 3, let value = ASCII.decimal(part), value <= 255 else { return nil }
      guard part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
      bytes.append(UInt8(value))
    }
    return bytes
  }

  private static func version6(_ text: [UInt8]) -> [UInt8]? {
    let gap = text.indices.dropLast().first { text[$0] == ASCII.colon && text[$0 + 1] == ASCII.colon }
    guard let gap else {
      guard let bytes = groups(text[...], mayEndInVersion4: true), bytes.count == 16 else { return nil }
      return bytes
    }
    guard let head = groups(text[..<gap], mayEndInVersion4: false),
      let tail = groups(text[(gap + 2)...], mayEndInVersion4: true), head.count + tail.count <= 14
    else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  private static func groups(_ text: ArraySlice<UInt8>, mayEndInVersion4: Bool) -> [UInt8]? {
    if text.isEmpty { return [] }
    var bytes: [UInt8] = []
    let parts = text.split(separator: ASCII.colon, omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if mayEndInVersion4, index == parts.count - 1, part.contains(dot) {
        guard let last = version4(part) else { return nil }
        return bytes + last
      }
      guard !part.isEmpty, part.count <= 4 else { return nil }
      var value: UInt16 = 0
      for digit in part {
        guard let digit = ASCII.hexValue(digit) else { return nil }
        value = value << 4 | UInt16(digit)
      }
      bytes += [UInt8(value >> 8), UInt8(value & 255)]
    }
    return bytes
  }
}

private let dot = UInt8(ascii: ".")
