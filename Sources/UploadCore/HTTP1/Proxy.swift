/// An HTTP proxy (RFC 9110, 3.7 and 9.3.6).
public struct Proxy: Equatable, Sendable {
  /// A name or address; an IPv6 address without its brackets.
  public let host: String
  /// Its TCP port.
  public let port: UInt16
  /// What is looked up: the host, with its zone where it has one.
  package let lookupName: String
  /// The value of Proxy-Authorization; a secret.
  package private(set) var authorization: String?
  /// A secret, too.
  package private(set) var password: [UInt8] = []

  /// - Parameter uri: `http://host:port`; a path is ignored.
  public init(_ uri: TargetURI, user: String? = nil, password: [UInt8] = []) {
    host = uri.host
    port = uri.port
    lookupName = uri.lookupName
    if let user { logIn(Array(user.utf8), password) }
  }

  private mutating func logIn(_ user: [UInt8], _ password: [UInt8]) {
    authorization = "Basic " + Base64.encode(user + [ASCII.colon] + password)
    self.password = password
  }

  /// A proxy as environment variables name it: `http://user:password@host:port`, where all but the host can be missing.
  /// - Parameter text: bytes, since a password need not be UTF-8.
  package init(variable text: [UInt8]) throws(TargetURIError) {
    var rest = text[...]
    if ASCII.equalsIgnoringCase(rest.prefix(7), "http://".utf8) { rest = rest.dropFirst(7) }
    let scheme = rest.prefix { ASCII.isLetter($0) || ASCII.isDigit($0) }
    if rest[scheme.endIndex...].starts(with: "://".utf8) { throw .unsupportedScheme }
    var login: (user: [UInt8], password: [UInt8])?
    if let at = rest.prefix(while: { $0 != UInt8(ascii: "/") }).lastIndex(of: UInt8(ascii: "@")) {
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
  /// addresses and blocks of addresses such as `192.168.0.0/16`, each with a port if it is to count; `*` stands for all.
  public var exceptions = ""
  /// Where a proxy for http targets is named that cannot be used, such as "$ALL_PROXY"; nil if there is none. It matters only
  /// to targets that it would be used for.
  package var unusableHTTP: String?
  /// The same for https targets.
  package var unusableHTTPS: String?

  /// No proxies.
  public init() {}

  package func proxy(for target: TargetURI) -> Proxy? {
    guard let proxy = target.scheme == .https ? https : http, !isException(target) else { return nil }
    return proxy
  }

  /// Where the proxy that the target would have to be reached through is named, if it cannot be used.
  package func unusable(for target: TargetURI) -> String? {
    guard let source = target.scheme == .https ? unusableHTTPS : unusableHTTP, !isException(target) else { return nil }
    return source
  }

  private func isException(_ target: TargetURI) -> Bool { ProxyExceptions(exceptions).contain(target) }
}
