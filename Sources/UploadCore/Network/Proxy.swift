/// An HTTP proxy (RFC 9110, 3.7 and 9.3.6).
public struct Proxy: Equatable, Sendable {
  /// A name or address; an IPv6 address without its brackets.
  public let host: String
  /// Its TCP port.
  public let port: UInt16
  /// The name to look up: the host, with its zone if it has one.
  package let lookupName: String
  /// The value of Proxy-Authorization; a secret.
  package private(set) var authorization: String?
  /// Also a secret.
  package private(set) var password: [UInt8] = []

  /// - Parameter uri: `http://host:port`; a path is ignored.
  public init(_ uri: TargetURI, user: String? = nil, password: [UInt8] = []) {
    host = uri.host
    port = uri.port
    lookupName = uri.lookupName
    if let user { logIn(Array(user.utf8), password) }
  }

  /// Whether it gets a user name and a password.
  package var hasCredentials: Bool { authorization != nil }

  package mutating func logIn(_ user: [UInt8], _ password: [UInt8]) {
    authorization = BasicAuthentication.value(user: user, password: password)
    self.password = password
  }

  /// The error for a response with which this proxy refuses a request.
  package func refusal(status: Int) -> UploadError {
    .proxyRefused(status: status, proxy: text, hadCredentials: authorization != nil)
  }

  /// "host:port", for people.
  package var text: String { (host.utf8.contains(ASCII.colon) ? "[" + host + "]" : host) + ":" + String(port) }
}

/// The proxies to use.
public struct ProxySettings: Equatable, Sendable {
  /// For http targets.
  public var http: Proxy?
  /// For https targets.
  public var https: Proxy?
  /// Hosts that are reached directly, in the syntax of `NO_PROXY`: names (which include all names below them), addresses,
  /// or address blocks such as `192.168.0.0/16`, each with an optional port; `*` means all.
  public var exceptions = ""
  /// The source of an unusable proxy for http targets, such as "$ALL_PROXY"; nil if there is none. It matters only to targets
  /// that would use it.
  package var unusableHTTP: String?
  /// The same for https targets.
  package var unusableHTTPS: String?

  /// No proxies.
  public init() {}

  package func proxy(for target: TargetURI) -> Proxy? {
    guard let proxy = target.scheme == .https ? https : http, !isException(target) else { return nil }
    return proxy
  }

  /// The source of the proxy for the target, if that proxy cannot be used; otherwise nil.
  package func unusable(for target: TargetURI) -> String? {
    guard let source = target.scheme == .https ? unusableHTTPS : unusableHTTP, !isException(target) else { return nil }
    return source
  }

  /// The error for a proxy's demand for credentials (407); nil for other responses. Those to an https target come through a tunnel,
  /// so they are not the proxy's.
  package func refusal(_ answer: Answer, to target: TargetURI) -> UploadError? {
    guard answer.status == 407, target.scheme == .http else { return nil }
    return proxy(for: target)?.refusal(status: 407)
  }

  private func isException(_ target: TargetURI) -> Bool { ProxyExceptions(exceptions).contain(target) }
}

/// Hosts that are reached without a proxy, in the syntax of curl's `NO_PROXY`: names, which include all names below them,
/// addresses, address blocks (`192.168.0.0/16`, `fd00::/8`), or `*` for all. Commas, spaces and tabs separate them. Unlike in
/// curl, an element can end in a port.
struct ProxyExceptions: Equatable, Sendable {
  private let elements: [[UInt8]]

  package init(_ text: String) {
    elements = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == ASCII.space || ($0 >= 0x09 && $0 <= 0x0D) }.map {
      Array(ASCII.lowercased(String(decoding: Array($0), as: UTF8.self)).utf8)
    }
  }

  package func contain(_ target: TargetURI) -> Bool {
    let host = ProxyExceptions.withoutTrailingDots(Array(target.host.utf8)[...])
    let address = IPAddress(host)
    return elements.contains { element in
      if element.elementsEqual("*".utf8) { return true }
      let (name, port) = ProxyExceptions.splitPort(element[...])
      if let port, port != target.port { return false }
      let plain = name.filter { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
      if let address { return ProxyExceptions.isBlock(plain, around: address) }
      return ProxyExceptions.isDomain(plain, of: host)
    }
  }

  /// "example.org", ".example.org", "*.example.org" or "example.org.": that host, or one below it.
  private static func isDomain(_ element: [UInt8], of host: ArraySlice<UInt8>) -> Bool {
    var domain = withoutTrailingDots(element[...])
    while domain.first == dot || domain.starts(with: "*.".utf8) { domain = domain.dropFirst() }
    guard !domain.isEmpty, host.count >= domain.count else { return false }
    guard host.suffix(domain.count).elementsEqual(domain) else { return false }
    return host.count == domain.count || host.dropLast(domain.count).last == dot
  }

  /// "192.0.2.7", or "192.0.2.0/24" with the length of the prefix. As in curl, "/0" means no prefix.
  private static func isBlock(_ element: [UInt8], around address: IPAddress) -> Bool {
    let parts = element.split(separator: ASCII.slash, maxSplits: 1, omittingEmptySubsequences: false)
    let text = withoutTrailingDots(parts[0].prefix { $0 != ASCII.percent })
    guard let block = IPAddress(text) else { return false }
    var bits = address.bytes.count * 8
    if parts.count > 1 {
      guard let length = ASCII.decimal(parts[1]), length <= 128 else { return false }
      if length > 0 { bits = Int(length) }
    }
    return address.shares(bits, with: block)
  }

  /// "host:8080". An IPv6 address has a port only in brackets.
  private static func splitPort(_ element: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, port: UInt16?) {
    guard let colon = element.lastIndex(of: ASCII.colon), let port = ASCII.decimal(element[(colon + 1)...]),
      port > 0, port <= 65535
    else { return (element, nil) }
    let name = element[..<colon]
    guard name.contains(UInt8(ascii: "]")) || !name.contains(ASCII.colon) else { return (element, nil) }
    return (name, UInt16(port))
  }

  /// "hive.example." is "hive.example", looked up from the root (RFC 1034, 3.1).
  private static func withoutTrailingDots(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var name = name
    while name.last == dot { name = name.dropLast() }
    return name
  }
}

private let dot = UInt8(ascii: ".")

extension Proxy {
  /// A proxy from an environment variable: `http://user:password@host:port`, where everything but the host is optional.
  /// - Parameter text: as bytes, because a password need not be UTF-8.
  package init(variable text: [UInt8]) throws(TargetURIError) {
    var rest = text[...]
    if ASCII.equalsIgnoringCase(rest.prefix(7), "http://".utf8) { rest = rest.dropFirst(7) }
    let scheme = rest.prefix { ASCII.isLetter($0) || ASCII.isDigit($0) }
    if rest[scheme.endIndex...].starts(with: "://".utf8) { throw .unsupportedScheme }
    var login: (user: [UInt8], password: [UInt8])?
    if let at = rest.prefix(while: { $0 != ASCII.slash }).lastIndex(of: UInt8(ascii: "@")) {
      let parts = rest[..<at].split(separator: ASCII.colon, maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = Percent.decode(parts[0]), let password = Percent.decode(parts.count > 1 ? parts[1] : []) else {
        throw .invalidCharacter
      }
      login = (user, password)
      rest = rest[(at + 1)...]
    }
    self.init(try TargetURI("http://" + String(decoding: rest, as: UTF8.self)))
    if let login { logIn(login.user, login.password) }
  }

  package init(variable text: String) throws(TargetURIError) { try self.init(variable: Array(text.utf8)) }
}
