/// What must not be shown, in any of the forms in which a server could repeat it.
package struct Secrets: Sendable {
  /// Longest first.
  private var forms: [SecretForm] = []
  /// The host that the user has named. It is shown also where a password has a part of it.
  private let ownHost: String

  package init(ownHost: String = "") { self.ownHost = ownHost }

  package mutating func add(_ credentials: Credentials) {
    switch credentials {
    case .none: break
    case .basic(let user, let password):
      addEncoded(Array((user + ":").utf8) + password)
      add(password)
    case .bearer(let token), .uploadToken(let token): add(Array(token.utf8))
    }
  }

  package mutating func add(_ proxy: Proxy) {
    if let authorization = proxy.authorization { addForm(Array(authorization.utf8.dropFirst("Basic ".utf8.count))) }
    add(proxy.password)
  }

  /// Shorter ones would make holes into ordinary words.
  package mutating func add(_ text: [UInt8]) {
    guard text.count >= Limits.redactedLength else { return }
    addForm(text)
    addEncoded(text)
    // A server may read bytes that are no UTF-8 as Latin-1, as many read Basic credentials (RFC 7617, 2); and what cannot be read
    // as UTF-8 has "�" in its place by the time that it is shown.
    addForm(text.flatMap { Array(String(Character(Unicode.Scalar($0))).utf8) })
    addForm(Array(String(decoding: text, as: UTF8.self).utf8))
  }

  /// In base 64 with the digits of RFC 4648, 4, and with those for URLs (section 5); with padding and without.
  private mutating func addEncoded(_ text: [UInt8]) {
    let encoded = Array(Base64.encode(text).utf8)
    for digits in [encoded, encoded.map(Secrets.digitForURLs)] {
      addForm(digits)
      addForm(Array(digits.prefix { $0 != UInt8(ascii: "=") }))
    }
  }

  private static func digitForURLs(_ digit: UInt8) -> UInt8 {
    switch digit {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: digit
    }
  }

  private mutating func addForm(_ bytes: [UInt8]) {
    let form = SecretForm(bytes)
    guard form.length >= Limits.redactedLength, !forms.contains(form) else { return }
    forms.insert(form, at: forms.firstIndex { $0.length < form.length } ?? forms.endIndex)
  }

  // MARK: Texts

  /// A text from outside as it may be shown: without the secrets, then made printable. White space and control characters can be a
  /// part of a secret, so that they have to be there still.
  package func line(_ text: String) -> String { PrintableText.line(redacted(text)) }

  /// A URI from outside, without its query, which can hold a token.
  package func line(ofURI text: String) -> String { PrintableText.line(PrintableText.withoutQuery(redacted(text))) }

  /// The name or address of a host, or a text that begins with one: where a server sends its clients can be its choice.
  package func host(_ text: String) -> String {
    if !ownHost.isEmpty, text.hasPrefix(ownHost) { return text }
    return String(decoding: redacted(Array(text.utf8), ignoringCase: true), as: UTF8.self)
  }

  /// The text without the secrets, also without one that its end or an ellipsis there has cut.
  package func redacted(_ text: String) -> String {
    forms.isEmpty ? text : String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// The same of bytes.
  package func redacted(_ text: [UInt8], ignoringCase: Bool = false) -> [UInt8] {
    let end = Secrets.endBeforeTruncation(text)
    var result: [UInt8] = []
    var index = 0
    // Secrets can overlap: what is hidden goes on to the end of the last one that begins in it.
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
    for form in forms {
      switch form.match(in: text, at: index, ignoringCase: ignoringCase) {
      case .whole(let end): furthest = max(furthest ?? 0, end)
      case .truncated: return text.endIndex
      case nil: break
      }
    }
    return furthest
  }

  /// Behind the last byte that is the text's own: an ellipsis says that it was cut, "�" that it was cut inside a character.
  private static func endBeforeTruncation(_ text: [UInt8]) -> Int {
    var end = text.count
    for mark in ["…", "\u{FFFD}"] {
      while end >= 3, text[(end - 3)..<end].elementsEqual(mark.utf8) { end -= 3 }
    }
    return end
  }

  private static let mark = Array("(secret)".utf8)
}
