/// What must not be shown, in any of the forms in which a server could repeat it.
package struct Secrets: Sendable {
  private var texts: [[UInt8]] = []

  package init() {}

  package mutating func add(_ credentials: Credentials) {
    switch credentials {
    case .none: break
    case .basic(let user, let password):
      add(Array(Base64.encode(Array((user + ":").utf8) + password).utf8))
      add(password)
    case .bearer(let token), .uploadToken(let token): add(Array(token.utf8))
    }
  }

  package mutating func add(_ proxy: Proxy) {
    if let authorization = proxy.authorization { add(Array(authorization.utf8.dropFirst("Basic ".utf8.count))) }
    add(proxy.password)
  }

  /// Shorter ones would make holes into ordinary words.
  package mutating func add(_ text: [UInt8]) {
    if text.count >= Limits.blankedLength { texts.append(text) }
  }

  /// The text without the secrets, also without one that an ellipsis at its end has cut.
  package func blanked(_ text: String) -> String {
    var result = Array(text.utf8)
    let ellipsis = Array("…".utf8)
    let hasEllipsis = result.suffix(ellipsis.count).elementsEqual(ellipsis)
    for secret in texts {
      var start = 0
      while start + secret.count <= result.count {
        if result[start..<(start + secret.count)].elementsEqual(secret) {
          result.replaceSubrange(start..<(start + secret.count), with: Secrets.blank)
          // A secret can be a part of what it is replaced by.
          start += Secrets.blank.count
        } else {
          start += 1
        }
      }
      guard hasEllipsis else { continue }
      let end = result.count - ellipsis.count
      var length = min(secret.count - 1, end)
      while length >= Limits.blankedLength, !result[(end - length)..<end].elementsEqual(secret.prefix(length)) {
        length -= 1
      }
      if length >= Limits.blankedLength { result.replaceSubrange((end - length)..<end, with: Secrets.blank) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static let blank = Array("(secret)".utf8)
}
