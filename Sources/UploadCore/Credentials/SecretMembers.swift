/// Redacts what a response itself marks as secret, without knowing it: JSON members and form fields named like a token, secret,
/// password or key, and the queries of URLs.
///
/// It reads text, not JSON, because content can be truncated, be only partly JSON, or have JSON in a string. A value that the text
/// ends in is redacted up to the end.
package enum SecretMembers {
  package static func redacted(_ text: String) -> String {
    String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// The text with "(secret)" in place of such values, and "?…" in place of queries.
  package static func redacted(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      result.append(byte)
      switch byte {
      case ASCII.questionMark:
        let end = end(in: text, from: index) { isSpace($0) || isQuote($0) || "<>".utf8.contains($0) }
        if end > index { result += Array("…".utf8) }
        index = end
      case ASCII.colon, equals:
        guard let name = name(in: text, before: index - 1, separator: byte), isSecret(text[name.range]) else { break }
        let value = skip(in: text, from: index, isSpace)
        result += text[index..<value]
        index = redact(text, from: value, name, &result)
      default: break
      }
    }
    return result
  }

  // MARK: Names

  /// The name before a separator.
  private struct Name {
    let range: Range<Int>
    /// The quotation mark around it, with the backslashes before it if it is in a JSON string itself; empty without.
    let quote: ArraySlice<UInt8>
  }

  /// - Returns: nil if there is none. Before a colon, only a name in quotes counts, because sentences have colons, too.
  private static func name(in text: [UInt8], before separator: Int, separator byte: UInt8) -> Name? {
    var end = separator
    while end > 0, isSpace(text[end - 1]) { end -= 1 }
    guard end > 0 else { return nil }
    let mark = text[end - 1]
    guard isQuote(mark) else {
      guard byte == equals else { return nil }
      var start = end
      while start > 0, !isNameDelimiter(text[start - 1]) { start -= 1 }
      return Name(range: start..<end, quote: [])
    }
    let quoteStart = end - 1 - backslashCount(in: text, before: end - 1)
    let level = nesting(end - 1 - quoteStart)
    var start = quoteStart
    while start > 0 {
      if text[start - 1] == mark, nesting(backslashCount(in: text, before: start - 1)) <= level { break }
      start -= 1
    }
    return Name(range: start..<quoteStart, quote: text[quoteStart..<end])
  }

  private static let patterns = ["token", "secret", "password", "key"].map { SecretPattern(Array($0.utf8)) }

  private static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
    // Those of a recording are no keys.
    if ["keyword", "keywords"].contains(where: { ASCII.equalsIgnoringCase(name, $0.utf8) }) { return false }
    return name.indices.contains { start in
      patterns.contains {
        if case .whole = $0.match(in: name, at: start, ignoringCase: true) { true } else { false }
      }
    }
  }

  // MARK: Values

  /// Appends the redacted value.
  /// - Returns: its end.
  private static func redact(_ text: [UInt8], from start: Int, _ name: Name, _ result: inout [UInt8]) -> Int {
    let quote = skip(in: text, from: start) { $0 == backslash }
    if quote < text.count, isQuote(text[quote]) {
      let depth = quote - start
      let end = endOfString(in: text, from: quote + 1, text[quote], level: nesting(depth))
      result += text[start...quote] + mark
      // The backslashes before the closing quotation mark belong to it.
      return end == text.count ? end : max(quote + 1, end - depth)
    }
    let isNested = start < text.count && (text[start] == UInt8(ascii: "{") || text[start] == UInt8(ascii: "["))
    let end =
      isNested
      ? endOfNested(in: text, from: start, name)
      : end(in: text, from: start) { isSpace($0) || isQuote($0) || "&;,<>}]".utf8.contains($0) }
    if end > start { result += name.quote + mark + name.quote }
    return end
  }

  /// The index of the quotation mark that ends a string; the end of the text if there is none.
  private static func endOfString(in text: [UInt8], from start: Int, _ quote: UInt8, level: Int) -> Int {
    var backslashes = 0
    for index in start..<text.count {
      if text[index] == quote, nesting(backslashes) <= level { return index }
      backslashes = text[index] == backslash ? backslashes + 1 : 0
    }
    return text.count
  }

  /// The end of an object or array; the end of the text if it is incomplete.
  private static func endOfNested(in text: [UInt8], from start: Int, _ name: Name) -> Int {
    let level = nesting(max(0, name.quote.count - 1))
    var depth = 0
    var index = start
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index + 1 }
      case ASCII.quote: index = endOfString(in: text, from: index + 1, ASCII.quote, level: level)
      default: break
      }
      index += 1
    }
    return text.count
  }

  /// The index of the first delimiter. The backslashes before a quotation mark belong to it.
  private static func end(in text: [UInt8], from start: Int, _ isDelimiter: (UInt8) -> Bool) -> Int {
    let end = skip(in: text, from: start) { !isDelimiter($0) }
    return end < text.count && isQuote(text[end]) ? max(start, end - backslashCount(in: text, before: end)) : end
  }

  // MARK: Characters

  /// How many JSON strings a quotation mark is nested in, from the number of backslashes before it: 0 for none or those of
  /// escaped backslashes, 1 for `\"`, 2 for `\\\"`.
  private static func nesting(_ backslashes: Int) -> Int {
    var (rest, level) = (backslashes, 0)
    while rest % 2 == 1 {
      rest = (rest - 1) / 2
      level += 1
    }
    return level
  }

  private static func backslashCount(in text: [UInt8], before index: Int) -> Int {
    var start = index
    while start > 0, text[start - 1] == backslash { start -= 1 }
    return index - start
  }

  private static func skip(in text: [UInt8], from start: Int, _ isSkipped: (UInt8) -> Bool) -> Int {
    var index = start
    while index < text.count, isSkipped(text[index]) { index += 1 }
    return index
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == ASCII.quote || byte == UInt8(ascii: "'") }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || (byte >= 0x09 && byte <= 0x0D) }

  private static func isNameDelimiter(_ byte: UInt8) -> Bool {
    isSpace(byte) || isQuote(byte) || "?#&;,<>(){}[]=".utf8.contains(byte)
  }

  private static let backslash = UInt8(ascii: "\\")
  private static let equals = UInt8(ascii: "=")
  private static let mark = Array("(secret)".utf8)
}
