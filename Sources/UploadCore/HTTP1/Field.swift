/// A header or trailer field (RFC 9110, 5).
package struct Field: Equatable, Sendable {
  /// As received or to be sent; compare with ``hasName(_:)``.
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Field names are case-insensitive (RFC 9110, 5.1).
  package func hasName(_ other: String) -> Bool { ASCII.equalsIgnoringCase(name.utf8, other.utf8) }

  /// Whether the field can be sent as one line. The name must be a token, and the value must contain no control characters
  /// except tab (RFC 9110, 5.5), because a line break would allow header injection.
  package var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy(ASCII.isTokenCharacter)
      && value.utf8.allSatisfy { !ASCII.isControl($0) || $0 == ASCII.tab }
  }
}

extension [Field] {
  /// Whether the response is from the server, as far as it says so: what a cache has kept says nothing about now (RFC 9111, 5.1).
  var areFresh: Bool {
    !values(of: "Age").contains { ASCII.decimal($0.utf8) != 0 }
      && ![
        "Cache-Status", "CDN-Cache", "CF-Cache-Status", "X-Cache", "X-Cache-Status", "X-LiteSpeed-Cache",
        "X-Proxy-Cache",
      ].contains { showHit($0) }
  }

  /// Whether a cache says in this field that it has kept the response, as "HIT from cdn", "TCP_HIT", "cache; hit" (RFC 9211) and "STALE" do.
  private func showHit(_ name: String) -> Bool {
    values(of: name).contains { value in
      value.utf8.split { $0 == UInt8(ascii: ",") || $0 == ASCII.semicolon }.contains { part in
        let trimmed = ASCII.trimmed([UInt8](part)[...])
        let word = ASCII.lowercased(String(decoding: trimmed.prefix { $0 != ASCII.space }, as: UTF8.self))
        return word.hasSuffix("hit") || word == "stale" || word == "updating"
      }
    }
  }

  /// The values of all fields of that name, in order.
  package func values(of name: String) -> [String] { filter { $0.hasName(name) }.map { $0.value } }

  package func first(_ name: String) -> String? { first { $0.hasName(name) }?.value }

  /// The members of a comma-separated list field (RFC 9110, 5.6.1), in lower case and without their parameters.
  package func listMembers(of name: String) -> [String] {
    var members: [String] = []
    for field in self where field.hasName(name) {
      for element in [UInt8](field.value.utf8).split(separator: UInt8(ascii: ",")) {
        let member = ASCII.trimmed(element.prefix { $0 != ASCII.semicolon })
        if !member.isEmpty { members.append(ASCII.lowercased(String(decoding: member, as: UTF8.self))) }
      }
    }
    return members
  }
}
