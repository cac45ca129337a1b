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

/// Reads responses to a ``MulticastDNSQuery``. Names can be compressed; a pointer must point backwards, so that no chain of
/// them is endless.
package struct MulticastDNSResponse {
  private let message: UnsafeRawBufferPointer
  private var position = 0

  /// The addresses that a message gives for the query's name.
  /// - Returns: nil if it is not a whole, well-formed response with the query's ID. What follows the last record is ignored.
  package static func addresses(in message: UnsafeRawBufferPointer, to query: MulticastDNSQuery) -> [IPAddress]? {
    var response = MulticastDNSResponse(message: message)
    return response.read(query)
  }

  private init(message: UnsafeRawBufferPointer) { self.message = message }

  private mutating func read(_ query: MulticastDNSQuery) -> [IPAddress]? {
    guard message.count <= Limits.dnsMessageLength, next16() == query.id, let flags = next16() else { return nil }
    // A response, to a standard query, without an error (RFC 6762, 18.3 and 18.11).
    guard flags & 0xF80F == 0x8000 else { return nil }
    guard let questions = next16(), let answers = next16(), let authorities = next16(), let additionals = next16()
    else {
      return nil
    }
    let records = Int(answers) + Int(authorities) + Int(additionals)
    guard Int(questions) + records <= Limits.dnsRecordCount else { return nil }
    for _ in 0..<questions {
      guard skipName() else { return nil }
      guard next16() != nil, next16() != nil else { return nil }
    }
    var found: [IPAddress] = []
    for number in 0..<records {
      let start = position
      guard skipName(), let kind = next16(), let type = next16(), let timeToLive = next32(), let length = next16(),
        let data = take(Int(length))
      else { return nil }
      let isAuthority = number >= Int(answers) && number < Int(answers) + Int(authorities)
      // The highest bit of the class says that caches are to be flushed (RFC 6762, 10.2). A record without time is gone (10.1).
      guard type & 0x7FFF == 1, timeToLive > 0, !isAuthority, let kind = MulticastDNSQuery.Kind(rawValue: kind) else {
        continue
      }
      guard data.count == (kind == .a ? 4 : 16) else { return nil }
      if isName(at: start, query.name), let address = IPAddress(octets: data) { found.append(address) }
    }
    return found
  }

  // MARK: Names (RFC 1035, 4.1.4)

  /// Skips a name, and checks all of it.
  private mutating func skipName() -> Bool {
    guard let end = walk(from: position, { _ in }) else { return false }
    position = end
    return true
  }

  private func isName(at start: Int, _ name: [UInt8]) -> Bool {
    var (index, isSame) = (0, true)
    _ = walk(from: start) { byte in
      isSame = isSame && index < name.count && ASCII.lowercased(byte) == ASCII.lowercased(name[index])
      index += 1
    }
    return isSame && index == name.count
  }

  /// Goes through a name's bytes, with lengths and the final zero, wherever they are.
  /// - Returns: the position behind it in the record; nil if the name is malformed.
  private func walk(from start: Int, _ visit: (UInt8) -> Void) -> Int? {
    var (at, length, jumps) = (start, 0, 0)
    // Where the name, or the part of it that a pointer led to, begins: the next pointer must lead to before it.
    var (begin, end) = (start, Int?.none)
    while at < message.count {
      let head = message[at]
      switch head {
      case 0:
        visit(0)
        return end ?? at + 1
      case 1...63:
        length += 1 + Int(head)
        guard length < Limits.dnsNameLength, at + Int(head) < message.count else { return nil }
        for index in at...(at + Int(head)) { visit(message[index]) }
        at += 1 + Int(head)
      case 0xC0...:
        guard at + 1 < message.count else { return nil }
        let target = Int(head & 0x3F) << 8 | Int(message[at + 1])
        jumps += 1
        guard target < begin, jumps <= Limits.dnsPointerCount else { return nil }
        end = end ?? at + 2
        (at, begin) = (target, target)
      default: return nil
      }
    }
    return nil
  }

  // MARK: Numbers

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count <= message.count - position else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: message[position..<(position + count)])
  }

  private mutating func next16() -> UInt16? { take(2).map { UInt16($0[0]) << 8 | UInt16($0[1]) } }

  private mutating func next32() -> UInt32? {
    guard let high = next16(), let low = next16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }
}

extension Limits {
  /// A name in DNS with its lengths (RFC 1035, 2.3.4), in bytes.
  static let dnsNameLength = 255
  /// Pointers in a name: as many as a name can have labels.
  static let dnsPointerCount = 127
  /// Questions and records in a message.
  package static let dnsRecordCount = 256
  /// How long to wait for other addresses after the first one (RFC 8305, 3), in milliseconds.
  package static let multicastDNSSettlingMilliseconds: Int64 = 50
}
