/// The Basic scheme (RFC 7617, 2), for servers and proxies. User name and password are sent byte for byte.
enum BasicAuthentication {
  /// The value of Authorization or Proxy-Authorization.
  static func value(user: [UInt8], password: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass(user: user, password: password))
  }

  /// The bytes before Base64.
  static func userPass(user: [UInt8], password: [UInt8]) -> [UInt8] { user + [ASCII.colon] + password }
}
