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

  /// A URI from outside, redacted, without its query, which can contain a token.
  package func line(ofURI text: String) -> String { PrintableText.line(PrintableText.withoutQuery(redacted(text))) }

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
