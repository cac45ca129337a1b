/// A question for the addresses of a name below `.local` (RFC 6762, 3), and what counts as an answer to it.
package struct MulticastDNSQuery: Equatable, Sendable {
  /// The types of address records (RFC 1035, 3.2.2; RFC 3596, 2.1).
  package enum Kind: UInt16, Sendable, CaseIterable {
    case a = 1
    case aaaa = 28
  }

  /// Returned in the answer. A host that cannot see the query cannot know it.
  package var id: UInt16
  /// Each label preceded by its length, and the root's zero (RFC 1035, 3.1).
  let name: [UInt8]

  /// nil if the name is not below `.local`, or cannot be encoded in DNS. A trailing dot does not matter.
  package init?(name text: String, id: UInt16) {
    var bytes = Array(text.utf8)
    if bytes.last == MulticastDNSQuery.dot { bytes.removeLast() }
    let labels = bytes.split(separator: MulticastDNSQuery.dot, omittingEmptySubsequences: false)
    guard labels.count > 1, ASCII.equalsIgnoringCase(labels[labels.count - 1], "local".utf8) else { return nil }
    guard labels.allSatisfy({ (1...63).contains($0.count) }), bytes.count + 2 <= Limits.dnsNameLength else {
      return nil
    }
    name = labels.flatMap { [UInt8($0.count)] + $0 } + [0]
    self.id = id
  }

  /// Whether a host is looked up in this way.
  package static func isAsked(for host: String) -> Bool { MulticastDNSQuery(name: host, id: 0) != nil }

  /// The message (RFC 1035, 4.1): one question, which wants its answer by unicast (RFC 6762, 5.4). One for each kind, because
  /// the simplest responders read only the first question.
  package func message(for kind: Kind) -> [UInt8] {
    let header: [UInt8] = [UInt8(id >> 8), UInt8(id & 255), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    return header + name + [0, UInt8(kind.rawValue), 0x80, 1]
  }

  private static let dot = UInt8(ascii: ".")
}
