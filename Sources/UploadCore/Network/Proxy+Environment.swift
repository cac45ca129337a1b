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
