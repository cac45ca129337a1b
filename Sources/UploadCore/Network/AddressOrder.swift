/// Which of a host's addresses are tried, and in which order (RFC 8305, 4).
package enum AddressOrder {
  /// The families take turns as long as there are both, beginning with that of the first address and each in its own order.
  /// The list is cut behind that, so that no number of addresses of one family keeps the other from being tried.
  /// - Parameters:
  ///   - areIPv6: of each address, in the resolver's order, whether it is an IPv6 one.
  ///   - limit: how many are tried at most.
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

  /// Is the name this machine's own, whatever a name server says of it: `localhost` and all below (RFC 6761, 6.3)?
  package static func isLocalHost(_ name: String) -> Bool {
    var name = ASCII.lowercased(name)
    if name.hasSuffix(".") { name = String(name.dropLast()) }
    return name == "localhost" || name.hasSuffix(".localhost")
  }
}
