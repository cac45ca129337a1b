/// Which addresses of a host are tried, and in which order (RFC 8305, 4).
package enum AddressOrder {
  /// Alternates between the families while there are both, starting with that of the first address, each in its own order.
  /// Only then is the list truncated, so that many addresses of one family cannot crowd out the other.
  /// - Parameters:
  ///   - areIPv6: for each address, in the resolver's order, whether it is an IPv6 address.
  ///   - limit: the most addresses to try.
  /// - Returns: indices of the addresses.
  package static func interleaved(_ areIPv6: [Bool], limit: Int) -> [Int] {
    guard let first = areIPv6.first else { return [] }
    var same = areIPv6.indices.filter { areIPv6[$0] == first }[...]
    var other = areIPv6.indices.filter { areIPv6[$0] != first }[...]
    var order: [Int] = []
    while order.count < limit, !same.isEmpty || !other.isEmpty {
      if let next = same.popFirst() { order.append(next) }
      if order.count < limit, let next = other.popFirst() { order.append(next) }
    }
    return order
  }

  /// Whether the name is this machine, whatever a name server says: `localhost` and all names below it (RFC 6761, 6.3).
  package static func isLocalHost(_ name: String) -> Bool {
    var name = ASCII.lowercased(name)
    if name.hasSuffix(".") { name = String(name.dropLast()) }
    return name == "localhost" || name.hasSuffix(".localhost")
  }
}
