/// Asks for a name by multicast DNS like a simple resolver (RFC 6762, 5.1): says when to ask, which answers count, and when
/// enough is known. It does no I/O.
package struct MulticastDNSLookup {
  /// A network interface that can be asked on.
  package struct Interface: Equatable, Sendable {
    package let index: UInt32
    package let name: String
    package let isLoopback: Bool
    /// Its addresses, each with the length of its prefix.
    package var prefixes: [(address: IPAddress, bits: Int)] = []

    package init(index: UInt32, name: String, isLoopback: Bool) {
      self.index = index
      self.name = name
      self.isLoopback = isLoopback
    }

    package static func == (one: Interface, other: Interface) -> Bool { one.index == other.index }

    /// Whether it has an address of this version. If not, a question of that version cannot be sent.
    package func hasAddress(ofIPv6 isIPv6: Bool) -> Bool {
      prefixes.contains { ($0.address.bytes.count == 16) == isIPv6 }
    }
  }

  /// Where a datagram came from.
  package struct Origin {
    let source: IPAddress
    let port: UInt16
    /// The index of the interface it came in on.
    let interface: UInt32
    /// IPv4's TTL or IPv6's hop limit; nil if the kernel did not say.
    let hopLimit: Int?

    package init(source: IPAddress, port: UInt16, interface: UInt32, hopLimit: Int?) {
      self.source = source
      self.port = port
      self.interface = interface
      self.hopLimit = hopLimit
    }
  }

  /// An address of the host.
  package struct Found: Equatable, Sendable {
    package let address: IPAddress
    /// The index of the interface that it was learned on.
    package let interface: UInt32
    /// The zone that the address needs: the interface if it is link-local, otherwise 0.
    package var zone: UInt32 { address.isLinkLocal ? interface : 0 }
  }

  package enum Action: Equatable {
    /// Send each of the query's messages on each interface, then ask for the next action.
    case send
    case wait(untilMilliseconds: Int64)
    /// There is an answer, or there will be none.
    case finished
  }

  package let query: MulticastDNSQuery
  package let kinds: [MulticastDNSQuery.Kind]
  package let interfaces: [Interface]
  private let deadline: Int64
  private var nextQuery: Int64
  private var interval = Limits.multicastDNSIntervalMilliseconds
  private var found: [Found] = []
  /// When to stop waiting for further addresses; nil if there are none yet.
  private var settlesAt: Int64?

  /// - Parameters:
  ///   - kinds: the addresses wanted.
  ///   - limit: how long to ask, in milliseconds.
  package init(
    _ query: MulticastDNSQuery, kinds: [MulticastDNSQuery.Kind], on interfaces: [Interface], now: Int64,
    limitMilliseconds limit: Int64
  ) {
    self.query = query
    self.kinds = kinds
    self.interfaces = interfaces
    nextQuery = now
    deadline = now + limit
  }

  package mutating func next(now: Int64) -> Action {
    if interfaces.isEmpty || now >= min(deadline, settlesAt ?? deadline) || hasEveryKind { return .finished }
    guard found.isEmpty, now >= nextQuery else {
      return .wait(untilMilliseconds: settlesAt.map { min($0, deadline) } ?? min(nextQuery, deadline))
    }
    // RFC 6762, 5.2: at least a second, then twice as long each time.
    nextQuery = now + interval
    interval *= 2
    return .send
  }

  /// Notes a datagram. Whatever is not an answer to the query, from the local network, is ignored.
  package mutating func receive(_ message: UnsafeRawBufferPointer, from origin: Origin, now: Int64) {
    guard isFromTheLocalNetwork(origin), let addresses = MulticastDNSResponse.addresses(in: message, to: query) else {
      return
    }
    let isLoopback = interfaces.contains { $0.index == origin.interface && $0.isLoopback }
    for address in addresses {
      let one = Found(address: address, interface: origin.interface)
      guard let kind = MulticastDNSLookup.kind(of: address), kinds.contains(kind),
        address.canBeAHost(ofThisMachine: isLoopback)
      else { continue }
      guard !found.contains(where: { $0.address == address && $0.zone == one.zone }) else { continue }
      // Neither version can crowd out the other.
      guard found.filter({ MulticastDNSLookup.kind(of: $0.address) == kind }).count < Limits.addressCount else {
        continue
      }
      found.append(one)
      settlesAt = settlesAt ?? now + Limits.multicastDNSSettlingMilliseconds
    }
  }

  /// The addresses, IPv6 first (RFC 6724, 2.1), in the order in which they were learned.
  package var addresses: [Found] {
    found.filter { $0.address.bytes.count == 16 } + found.filter { $0.address.bytes.count == 4 }
  }

  /// The name of an interface asked on.
  package func name(ofInterface index: UInt32) -> String { interfaces.first { $0.index == index }?.name ?? "" }

  private var hasEveryKind: Bool {
    kinds.allSatisfy { kind in found.contains { MulticastDNSLookup.kind(of: $0.address) == kind } }
  }

  private static func kind(of address: IPAddress) -> MulticastDNSQuery.Kind? {
    address.bytes.count == 16 ? .aaaa : .a
  }

  /// RFC 6762, 6 and 11: from the port of responders; and from a neighbour, by its address, or because no router has passed the
  /// datagram on.
  private func isFromTheLocalNetwork(_ origin: Origin) -> Bool {
    guard origin.port == MulticastDNSLookup.port else { return false }
    guard let interface = interfaces.first(where: { $0.index == origin.interface }) else { return false }
    if origin.hopLimit == 255 || origin.source.isLinkLocal { return true }
    return interface.prefixes.contains { $0.address.shares($0.bits, with: origin.source) }
  }

  package static let port: UInt16 = 5353
}

extension IPAddress {
  /// Whether a host can have it: not the unspecified address, a multicast or broadcast address or a mapped one, and one of the
  /// loopback network only where that was asked.
  fileprivate func canBeAHost(ofThisMachine mayBeLoopback: Bool) -> Bool {
    if bytes.count == 4 {
      if bytes[0] == 127 { return mayBeLoopback }
      return bytes[0] != 0 && bytes[0] < 224
    }
    if bytes[0] == 0xFF { return false }
    guard bytes[..<10].allSatisfy({ $0 == 0 }) else { return true }
    // ::, ::1, IPv4-compatible and IPv4-mapped addresses (RFC 4291, 2.5).
    return mayBeLoopback && bytes[10..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
  }
}
