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

  mutating func logIn(_ user: [UInt8], _ password: [UInt8]) {
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
