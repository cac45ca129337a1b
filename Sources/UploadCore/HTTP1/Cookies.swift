/// The cookies of one upload, for load balancers that need theirs to find the server that has it (RFC 6265). They are sent only to the
/// origin that set them, and kept as long as the upload.
package struct Cookies: Equatable, Sendable {
  private struct Cookie: Equatable {
    let name: String
    let value: String
    /// Starts with "/".
    let path: String

    var length: Int { name.utf8.count + value.utf8.count }
  }

  /// The last one set is the last.
  private var all: [Cookie] = []

  package init() {}

  // MARK: The record

  /// One as `name=value; Path=/path`.
  package var texts: [String] { all.map { $0.name + "=" + $0.value + "; Path=" + $0.path } }

  /// - Parameter texts: those of ``texts``. What is not a cookie is left out.
  package init(_ texts: [String]) {
    for text in texts { take(text, defaultPath: "/", isSecure: true, host: "", nowSeconds: 0) }
  }

  /// Whether they have the same names. A load balancer may change a value with each response, and the older ones stay valid.
  package func haveSameNames(as other: Cookies) -> Bool {
    all.count == other.all.count && all.allSatisfy { cookie in other.all.contains { $0.name == cookie.name } }
  }

  // MARK: Requests and responses

  /// The field for a request; nil if there is no cookie for it (RFC 6265, 5.4).
  package func field(for target: TargetURI) -> Field? {
    let path = Cookies.path(of: target)
    let matching = all.filter { Cookies.covers($0.path, path) }
    if matching.isEmpty { return nil }
    let sorted = matching.sorted { $0.path.utf8.count > $1.path.utf8.count }
    return Field("Cookie", sorted.map { $0.name + "=" + $0.value }.joined(separator: "; "))
  }

  /// Takes those of a response.
  /// - Parameters:
  ///   - target: what responded.
  ///   - nowSeconds: the time, in seconds since 1970.
  package mutating func receive(_ fields: [Field], from target: TargetURI, nowSeconds: Int64) {
    let path = Cookies.path(of: target)
    let end = path.lastIndex(of: ASCII.slash) ?? 0
    let defaultPath = end == 0 ? "/" : String(decoding: path[..<end], as: UTF8.self)
    for text in fields.values(of: "Set-Cookie") {
      take(
        text, defaultPath: defaultPath, isSecure: target.scheme == .https, host: target.host, nowSeconds: nowSeconds)
    }
  }

  /// RFC 6265, 5.2 and 5.3.
  private mutating func take(_ text: String, defaultPath: String, isSecure: Bool, host: String, nowSeconds: Int64) {
    var parts = Array(text.utf8).split(separator: ASCII.semicolon, omittingEmptySubsequences: false)[...]
    guard let pair = parts.popFirst(), let (name, value) = Cookies.parse(pair), !name.isEmpty,
      Field("Cookie", name + "=" + value).isSendable
    else { return }
    var path = defaultPath
    var lifetime: Int64?
    var expires: Int64?
    for part in parts {
      let (attribute, text) = Cookies.parse(part) ?? (Cookies.text(part), "")
      switch ASCII.lowercased(attribute) {
      case "path": path = text.utf8.first == ASCII.slash ? text : defaultPath
      case "secure": if !isSecure { return }
      case "domain":
        let domain = ASCII.lowercased(text.utf8.first == UInt8(ascii: ".") ? String(text.dropFirst()) : text)
        if !domain.isEmpty, !host.isEmpty, host != domain, !host.hasSuffix("." + domain) { return }
      // A lifetime that ends later than the upload is not counted down.
      case "max-age": lifetime = text.utf8.first == UInt8(ascii: "-") ? 0 : ASCII.decimal(text.utf8) ?? lifetime
      case "expires": expires = HTTPDate.seconds(text).map { $0 - nowSeconds } ?? expires
      default: break
      }
    }
    guard path.utf8.allSatisfy({ $0 != ASCII.semicolon && !ASCII.isControl($0) }) else { return }
    let cookie = Cookie(name: name, value: value, path: path)
    let place = all.firstIndex { $0.name == name && $0.path == path }
    if (lifetime ?? expires ?? 1) <= 0 {
      if let place { all.remove(at: place) }
      return
    }
    guard cookie.length <= Limits.cookiesLength else { return }
    if let place { all.remove(at: place) }
    all.append(cookie)
    // The oldest go first.
    while all.count > Limits.cookieCount || all.reduce(0, { $0 + $1.length }) > Limits.cookiesLength {
      all.removeFirst()
    }
  }

  /// The name and the value of "name=value"; nil without "=".
  private static func parse(_ part: ArraySlice<UInt8>) -> (name: String, value: String)? {
    guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (text(part[..<equals]), text(part[(equals + 1)...]))
  }

  private static func text(_ part: ArraySlice<UInt8>) -> String {
    String(decoding: Array(ASCII.trimmed(part)), as: UTF8.self)
  }

  private static func path(of target: TargetURI) -> [UInt8] {
    Array(target.requestTarget.utf8.prefix { $0 != ASCII.questionMark })
  }

  /// RFC 6265, 5.1.4.
  private static func covers(_ cookiePath: String, _ path: [UInt8]) -> Bool {
    let cookiePath = Array(cookiePath.utf8)
    guard path.starts(with: cookiePath) else { return false }
    return path.count == cookiePath.count || cookiePath.last == ASCII.slash || path[cookiePath.count] == ASCII.slash
  }
}

extension Limits {
  /// The cookies of an upload.
  static let cookieCount = 4
  /// Their names and values, in bytes.
  static let cookiesLength = 2048
}
