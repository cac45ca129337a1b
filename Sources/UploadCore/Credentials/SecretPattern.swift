/// A text that is secret. It is also found where the text escapes it: by percent-encoding (RFC 3986, 2.1), with "+" for a space
/// as in forms, as in a JSON string (RFC 8259, 7), or as in HTML.
struct SecretPattern: Equatable, Sendable {
  /// Characters: what one escape stands for. An invalid UTF-8 byte is one unit.
  private let units: [[UInt8]]
  /// The number of bytes in all units.
  let length: Int

  /// The extent of a secret that starts at some index.
  enum Match: Equatable {
    /// Up to this index.
    case whole(end: Int)
    /// The text ends inside the secret.
    case truncated
  }

  init(_ bytes: [UInt8]) {
    length = bytes.count
    units = SecretPattern.units(of: bytes)
  }

  /// Whether the secret starts at the index, and continues to its own end or to the end of the text.
  /// - Parameters:
  ///   - text: up to where it may have been truncated.
  ///   - ignoresCase: whether to ignore case, as in host names.
  func match(in text: ArraySlice<UInt8>, at start: Int, ignoringCase ignoresCase: Bool = false) -> Match? {
    let reader = EscapedText(text: text, ignoresCase: ignoresCase)
    guard let first = units.first?.first, reader.canStart(with: first, at: start) else { return nil }
    // A backslash can stand for itself or start an escape, so all interpretations are followed.
    var ends = [start]
    var matched = 0
    var isTruncated = false
    for unit in units {
      var next: [Int] = []
      for end in ends {
        for step in reader.ends(of: unit, at: end) {
          guard let step else {
            isTruncated = isTruncated || matched >= Limits.redactedLength
            continue
          }
          if !next.contains(step) { next.append(step) }
        }
      }
      if next.isEmpty { return isTruncated ? .truncated : nil }
      ends = next
      matched += unit.count
    }
    return ends.max().map { .whole(end: $0) }
  }

  private static func units(of bytes: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var rest = bytes[...]
    while let first = rest.first {
      let length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      let unit = Array(rest.prefix(length))
      let isCharacter = Array(String(decoding: unit, as: UTF8.self).utf8) == unit
      units.append(isCharacter ? unit : [first])
      rest = rest.dropFirst(isCharacter ? unit.count : 1)
    }
    return units
  }
}
