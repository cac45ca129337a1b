/// An HTTP proxy (RFC 9110, 3.7 and 9.3.6).
public struct Proxy: Equatable, Sendable {
  /// A name or address; an IPv6 address without its brackets.
  public let host: String
  /// Its TCP port.
  public let port: UInt16
  /// The value of Proxy-Authorization; a secret.
  package private(set) var authorization: String?
  /// A secret, too.
  package private(set) var password: [UInt8] = []

  /// - Parameter uri: `http://host:port`; a path is ignored.
  public init(_ uri: TargetURI, user: String? = nil, password: [UInt8] = []) {
    host = uri.host
    port = uri.port
    if let user { logIn(Array(user.utf8), password) }
  }

  private mutating func logIn(_ user: [UInt8], _ password: [UInt8]) {
    authorization = "Basic " + Base64.encode(user + [ASCII.colon] + password)
    self.password = password
  }

  /// A proxy as environment variables name it: `http://user:password@host:port`, where all but the host can be missing.
  package init(variable text: String) throws(TargetURIError) {
    var rest = Array(text.utf8)[...]
    if ASCII.equalsIgnoringCase(rest.prefix(7), "http://".utf8) { rest = rest.dropFirst(7) }
    let scheme = rest.prefix { ASCII.isLetter($0) || ASCII.isDigit($0) }
    if rest[scheme.endIndex...].starts(with: "://".utf8) { throw .unsupportedScheme }
    var login: (user: [UInt8], password: [UInt8])?
    if let at = rest.prefix(while: { $0 != UInt8(ascii: "/") }).lastIndex(of: UInt8(ascii: "@")) {
      let parts = rest[..<at].split(separator: ASCII.colon, maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = Percent.decode(String(decoding: parts[0], as: UTF8.self)),
        let password = Percent.decode(parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : "")
      else { throw .invalidCharacter }
      login = (user, password)
      rest = rest[(at + 1)...]
    }
    self.init(try TargetURI("http://" + String(decoding: rest, as: UTF8.self)))
    if let login { logIn(login.user, login.password) }
  }

  /// "host:port", for people.
  package var text: String { (host.utf8.contains(ASCII.colon) ? "[" + host + "]" : host) + ":" + String(port) }
}

/// Which proxy a target is reached through.
public struct ProxySettings: Equatable, Sendable {
  /// For http targets.
  public var http: Proxy?
  /// For https targets.
  public var https: Proxy?
  /// Hosts that are reached directly, as `NO_PROXY` lists them: names (which stand for all below them as well),
  /// addresses, each with a port if it is to count; `*` stands for all.
  public var exceptions = ""

  /// No proxies.
  public init() {}

  package func proxy(for target: TargetURI) -> Proxy? {
    guard let proxy = target.scheme == .https ? https : http, !isException(target) else { return nil }
    return proxy
  }

  private func isException(_ target: TargetURI) -> Bool {
    let elements = exceptions.utf8.split { $0 == UInt8(ascii: ",") || $0 == ASCII.space }
    return elements.contains { element in
      var name = ASCII.lowercased(String(decoding: Array(element), as: UTF8.self))
      if name == "*" { return true }
      if let (host, port) = ProxySettings.splitPort(name) {
        guard port == target.port else { return false }
        name = host
      }
      if name.hasPrefix("[") { name = String(name.dropFirst().dropLast()) }
      while name.hasPrefix(".") || name.hasPrefix("*.") { name = String(name.dropFirst()) }
      return !name.isEmpty && (target.host == name || target.host.hasSuffix("." + name))
    }
  }

  /// "host:8080"; nil if there is no port. An IPv6 address has a port only in brackets.
  private static func splitPort(_ name: String) -> (String, UInt16)? {
    let bytes = Array(name.utf8)
    guard let colon = bytes.lastIndex(of: ASCII.colon), let port = ASCII.decimal(bytes[(colon + 1)...]),
      port > 0, port <= 65535, bytes[..<colon].contains(UInt8(ascii: "]")) || !bytes[..<colon].contains(ASCII.colon)
    else { return nil }
    return (String(decoding: bytes[..<colon], as: UTF8.self), UInt16(port))
  }
}
