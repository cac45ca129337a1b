/// One spelling of a secret, found in a text also where the text escapes it: by percent-encoding (RFC 3986, 2.1), with "+" for a
/// space as in forms, as in a JSON string (RFC 8259, 7), or as in HTML.
struct SecretForm: Equatable, Sendable {
  /// Characters: what one escape stands for. A byte that is no UTF-8 is one by itself.
  private let units: [[UInt8]]
  /// Bytes in all units.
  let length: Int

  /// How far a secret that begins somewhere goes.
  enum Match: Equatable {
    /// Up to this index.
    case whole(end: Int)
    /// The text ends in it.
    case truncated
  }

  init(_ bytes: [UInt8]) {
    length = bytes.count
    units = SecretForm.units(of: bytes)
  }

  /// Does the secret begin at the index, with the text going on to its end or to the secret's?
  /// - Parameters:
  ///   - text: up to where it may have been cut.
  ///   - ignoresCase: do upper and lower case not differ, as in the name of a host?
  func match(in text: ArraySlice<UInt8>, at start: Int, ignoringCase ignoresCase: Bool = false) -> Match? {
    let reader = EscapedText(text: text, ignoresCase: ignoresCase)
    guard let first = units.first?.first, reader.canBegin(with: first, at: start) else { return nil }
    // A backslash can be one or the beginning of an escape: all readings are followed.
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
