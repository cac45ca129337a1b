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

/// The addresses of a host to use.
public enum AddressFamily: Sendable {
  case any, ipv4, ipv6

  /// The error for a host that has no address of this family: one that is itself an address of the other family, or no such host.
  package func problem(ofUnknown host: String) -> UploadError {
    guard let address = IPAddress(host.utf8.prefix { $0 != ASCII.percent }) else { return .noSuchName(host: host) }
    let isIPv6 = address.bytes.count == 16
    return self == (isIPv6 ? .ipv4 : .ipv6) ? .addressExcluded(host: host, isIPv6: isIPv6) : .noSuchName(host: host)
  }
}

/// The addresses that connected and then kept silent, during one run. A path that drops large packets, or one of several servers behind a
/// name, would otherwise get each attempt.
package struct AddressMemory: Sendable {
  /// As text, the last one that kept silent at the end; at most ``Limits/silentAddressCount``.
  private var silent: [String] = []
  /// Hosts whose connections use short segments; as many.
  private var narrowHosts: [String] = []

  package init() {}

  /// A connection ended without a response, or stopped moving.
  /// - Parameters:
  ///   - address: `192.0.2.1:443` or `[2001:db8::1]:443`.
  ///   - host: the name that led to it.
  ///   - hasArrived: whether more than a few packets of what was sent were acknowledged. If not, perhaps only short ones pass: a path MTU
  ///     that is smaller than announced.
  package mutating func noteSilence(of address: String, host: String, hasArrived: Bool) {
    AddressMemory.add(address, to: &silent)
    if !hasArrived { AddressMemory.add(host, to: &narrowHosts) }
  }

  package mutating func noteResponse(of address: String) { silent.removeAll { $0 == address } }

  /// Whether connections to the host use segments of ``Limits/narrowSegmentLength``.
  package func isNarrow(_ host: String) -> Bool { narrowHosts.contains(host) }

  /// In which order the addresses are tried: those that kept silent last, and those of the other version of IP first.
  /// - Returns: indices.
  package func order(_ addresses: [String]) -> [Int] {
    let indices = Array(addresses.indices)
    guard let last = silent.last(where: { addresses.contains($0) }) else { return indices }
    let wasIPv6 = AddressMemory.isIPv6(last)
    let others = indices.filter { !silent.contains(addresses[$0]) }
    return others.filter { AddressMemory.isIPv6(addresses[$0]) != wasIPv6 }
      + others.filter { AddressMemory.isIPv6(addresses[$0]) == wasIPv6 }
      + silent.compactMap { addresses.firstIndex(of: $0) }
  }

  private static func isIPv6(_ address: String) -> Bool { address.utf8.first == UInt8(ascii: "[") }

  private static func add(_ text: String, to list: inout [String]) {
    list.removeAll { $0 == text }
    if list.count == Limits.silentAddressCount { list.removeFirst() }
    list.append(text)
  }
}

extension Limits {
  /// Addresses and hosts of which it is known that they kept silent.
  package static let silentAddressCount = 32
}
