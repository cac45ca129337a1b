/// The texts that must not be shown, in all forms in which a server could repeat them.
package struct Secrets: Sendable {
  /// Longest first.
  private var patterns: [SecretPattern] = []
  /// The host that the user gave. It is shown even if it contains part of a password.
  private let ownHost: String

  package init(ownHost: String = "") { self.ownHost = ownHost }

  package mutating func add(_ credentials: Credentials) {
    switch credentials {
    case .none: break
    case .basic(let user, let password):
      addEncoded(BasicAuthentication.userPass(user: Array(user.utf8), password: password))
      add(password)
    case .bearer(let token), .uploadToken(let token): add(Array(token.utf8))
    case .s3(let keys):
      add(Array(keys.secret.utf8))
      if let token = keys.sessionToken { add(Array(token.utf8)) }
    case .headers(let headers, let other):
      add(other)
      for header in headers { add(header) }
    }
  }

  /// The value, and what is secret in it on its own: a server can repeat a token without its scheme, or one cookie of several.
  private mutating func add(_ header: CustomField) {
    let value = Array(header.value.utf8)
    add(value)
    if header.field.hasName("Cookie") { add(cookies: value) }
    guard let space = value.firstIndex(of: ASCII.space), header.field.hasName("Authorization") else { return }
    let parameter = Array(ASCII.trimmed(value[space...]))
    add(parameter)
    if ASCII.equalsIgnoringCase(value[..<space], "Basic".utf8), let pair = Base64.decode(parameter) {
      add(Array(pair.drop { $0 != ASCII.colon }.dropFirst()))
    }
  }

  /// - Parameter value: that of a Cookie field.
  package mutating func add(cookies value: [UInt8]) {
    for pair in value.split(separator: ASCII.semicolon) {
      add(Array(ASCII.trimmed(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst())))
    }
  }

  package mutating func add(_ proxy: Proxy) {
    if let authorization = proxy.authorization { addPattern(Array(authorization.utf8.dropFirst("Basic ".utf8.count))) }
    add(proxy.password)
  }

  /// Shorter ones would redact parts of ordinary words.
  package mutating func add(_ text: [UInt8]) {
    guard text.count >= Limits.redactedLength else { return }
    addPattern(text)
    addEncoded(text)
    // A server may read invalid UTF-8 as Latin-1, as many do for Basic credentials (RFC 7617, 2). Invalid bytes have become
    // "�" by the time they are shown.
    addPattern(text.flatMap { Array(String(Character(Unicode.Scalar($0))).utf8) })
    addPattern(Array(String(decoding: text, as: UTF8.self).utf8))
  }

  /// In Base64, with the alphabets of RFC 4648, 4 and 5, with and without padding.
  private mutating func addEncoded(_ text: [UInt8]) {
    let encoded = Array(Base64.encode(text).utf8)
    for digits in [encoded, encoded.map(Secrets.digitForURLs)] {
      addPattern(digits)
      addPattern(Array(digits.prefix { $0 != UInt8(ascii: "=") }))
    }
  }

  private static func digitForURLs(_ digit: UInt8) -> UInt8 {
    switch digit {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: digit
    }
  }

  private mutating func addPattern(_ bytes: [UInt8]) {
    let pattern = SecretPattern(bytes)
    guard pattern.length >= Limits.redactedLength, !patterns.contains(pattern) else { return }
    patterns.insert(pattern, at: patterns.firstIndex { $0.length < pattern.length } ?? patterns.endIndex)
  }

  // MARK: Texts

  /// Text from outside, redacted and then made printable. In that order, because a secret can contain white space and control
  /// characters.
  package func line(_ text: String) -> String { PrintableText.line(redacted(text)) }

  /// A URI from outside, redacted (``PrintableText/withoutSecrets(_:)``).
  package func line(ofURI text: String) -> String { PrintableText.line(PrintableText.withoutSecrets(redacted(text))) }

  /// A host name or address, or text that starts with one, redacted. A server can choose the host that it redirects to.
  package func host(_ text: String) -> String {
    if !ownHost.isEmpty, text.hasPrefix(ownHost) { return text }
    return String(decoding: redacted(Array(text.utf8), ignoringCase: true), as: UTF8.self)
  }

  /// The text without secrets, including one that is truncated at its end or at a final ellipsis.
  package func redacted(_ text: String) -> String {
    patterns.isEmpty ? text : String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// The same for bytes.
  package func redacted(_ text: [UInt8], ignoringCase: Bool = false) -> [UInt8] {
    let end = Secrets.endBeforeTruncation(text)
    var result: [UInt8] = []
    var index = 0
    // Secrets can overlap: a redacted part extends to the end of the last secret that starts in it.
    var hiddenEnd = 0
    while index < text.count {
      if index < end { hiddenEnd = max(hiddenEnd, self.end(ofSecretAt: index, in: text[..<end], ignoringCase) ?? 0) }
      if index >= hiddenEnd {
        result.append(text[index])
        index += 1
        continue
      }
      while index < hiddenEnd {
        hiddenEnd = max(hiddenEnd, self.end(ofSecretAt: index, in: text[..<end], ignoringCase) ?? 0)
        index += 1
      }
      result += Secrets.mark
    }
    return result
  }

  private func end(ofSecretAt index: Int, in text: ArraySlice<UInt8>, _ ignoringCase: Bool) -> Int? {
    var furthest: Int?
    for pattern in patterns {
      switch pattern.match(in: text, at: index, ignoringCase: ignoringCase) {
      case .whole(let end): furthest = max(furthest ?? 0, end)
      case .truncated: return text.endIndex
      case nil: break
      }
    }
    return furthest
  }

  /// The end of the text without a truncation mark: an ellipsis, or "�" for a truncated character.
  private static func endBeforeTruncation(_ text: [UInt8]) -> Int {
    var end = text.count
    for mark in ["…", "\u{FFFD}"] {
      while end >= 3, text[(end - 3)..<end].elementsEqual(mark.utf8) { end -= 3 }
    }
    return end
  }

  private static let mark = Array("(secret)".utf8)
}

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

extension Limits {
  /// The shortest secrets that are redacted, in bytes. Shorter ones occur in too many words.
  static let redactedLength = 4
}
