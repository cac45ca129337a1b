/// Looks a host up in a netrc file (the format of ftp(1), as curl reads it).
package enum Netrc {
  package struct Login: Equatable, Sendable {
    package let user: String
    /// As bytes, which need not be UTF-8.
    package let password: [UInt8]
  }

  /// The login of the first entry for the host, or of `default`; nil if there is none with a password.
  /// - Parameters:
  ///   - user: if not nil, only entries with this login match.
  ///   - takesDefault: whether the entry `default` is for this host, too.
  package static func login(
    host: String, user: String?, in bytes: [UInt8], takesDefault: Bool = true
  ) -> Login? {
    var tokens = Tokens(bytes: bytes)
    var matches = false
    var login: String?
    var password: [UInt8]?
    func entry() -> Login? {
      guard matches, let password else { return nil }
      if let user, let login, login != user { return nil }
      guard let name = login ?? user else { return nil }
      return Login(user: name, password: password)
    }
    while let token = tokens.next() {
      switch String(decoding: token, as: UTF8.self) {
      case "machine", "default":
        if let found = entry() { return found }
        (login, password) = (nil, nil)
        let isDefault = token.elementsEqual("default".utf8)
        matches = isDefault && takesDefault
        if !isDefault, let name = tokens.next() { matches = ASCII.equalsIgnoringCase(name, host.utf8) }
      case "login": login = tokens.next().map { String(decoding: $0, as: UTF8.self) }
      case "password": password = tokens.next()
      case "account": _ = tokens.next()
      case "macdef": tokens.skipMacro()
      default: break
      }
    }
    return entry()
  }

  /// Words separated by white space, or quoted, with backslash escapes. `#` at the start of a word begins a comment.
  private struct Tokens {
    let bytes: [UInt8]
    var offset = 0

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

    mutating func next() -> [UInt8]? {
      while offset < bytes.count {
        if Tokens.isSpace(bytes[offset]) {
          offset += 1
        } else if bytes[offset] == UInt8(ascii: "#") {
          skipLine()
        } else {
          return bytes[offset] == ASCII.quote ? quotedWord() : word()
        }
      }
      return nil
    }

    private mutating func word() -> [UInt8] {
      let start = offset
      while offset < bytes.count, !Tokens.isSpace(bytes[offset]) { offset += 1 }
      return Array(bytes[start..<offset])
    }

    private mutating func quotedWord() -> [UInt8] {
      var text: [UInt8] = []
      offset += 1
      while offset < bytes.count, bytes[offset] != ASCII.quote {
        if bytes[offset] == UInt8(ascii: "\\"), offset + 1 < bytes.count {
          offset += 1
          text.append(Tokens.escaped(bytes[offset]))
        } else {
          text.append(bytes[offset])
        }
        offset += 1
      }
      offset += 1
      return text
    }

    private static func escaped(_ byte: UInt8) -> UInt8 {
      switch byte {
      case UInt8(ascii: "n"): ASCII.lineFeed
      case UInt8(ascii: "r"): ASCII.carriageReturn
      case UInt8(ascii: "t"): ASCII.tab
      default: byte
      }
    }

    private mutating func skipLine() {
      while offset < bytes.count, bytes[offset] != ASCII.lineFeed { offset += 1 }
    }

    /// A macro ends at an empty line.
    mutating func skipMacro() {
      skipLine()
      while offset < bytes.count {
        offset += 1
        if offset < bytes.count, bytes[offset] == ASCII.lineFeed { return }
        skipLine()
      }
    }
  }
}
