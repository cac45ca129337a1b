/// The Basic scheme (RFC 7617, 2), for servers and for proxies. User and password go as the bytes that they are.
enum BasicAuthentication {
  /// The value of Authorization or Proxy-Authorization.
  static func value(user: [UInt8], password: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass(user: user, password: password))
  }

  /// What is encoded in base 64.
  static func userPass(user: [UInt8], password: [UInt8]) -> [UInt8] { user + [ASCII.colon] + password }
}
