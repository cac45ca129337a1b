/// A response to a question for the addresses of `hive.local`, with the ID 0x1234.
enum MulticastDNSTarget {
  static func run(_ input: [UInt8]) {
    guard let query = MulticastDNSQuery(name: "hive.local", id: 0x1234) else { fatalError("not a name") }
    let input = Array(input.prefix(2 * Limits.dnsMessageLength))
    let found = addresses(in: input[...], query)
    require(found == reference(input, query), "a plain reading finds other addresses")
    guard let found, input.count < Limits.dnsMessageLength else { return }
    require(addresses(in: (input + [0])[...], query) == found, "a trailing byte counts")
    guard let other = MulticastDNSQuery(name: "hive.local", id: 0x1235) else { fatalError("not a name") }
    require(addresses(in: input[...], other) == nil, "an answer to another question")
    var lookup = MulticastDNSLookup(query, kinds: [.a, .aaaa], on: [interface], now: 0, limitMilliseconds: 5000)
    page.placing(input[...]) { lookup.receive($0, from: origin, now: 0) }
    require(lookup.addresses.count <= 2 * Limits.addressCount, "more addresses than the limit")
    require(lookup.addresses.allSatisfy { found.contains($0.address) }, "an address out of nothing")
  }

  /// Reads from memory that ends behind the message.
  private static func addresses(in message: ArraySlice<UInt8>, _ query: MulticastDNSQuery) -> [IPAddress]? {
    page.placing(message) { MulticastDNSResponse.addresses(in: $0, to: query) }
  }

  private static let interface = MulticastDNSLookup.Interface(index: 1, name: "eth0", isLoopback: false)
  private static let origin: MulticastDNSLookup.Origin = {
    guard let source = IPAddress("192.0.2.1".utf8) else { fatalError("not an address") }
    return MulticastDNSLookup.Origin(source: source, port: 5353, interface: 1, hopLimit: 255)
  }()

  // MARK: The same by another way: names become text, and nothing is skipped

  private static func reference(_ bytes: [UInt8], _ query: MulticastDNSQuery) -> [IPAddress]? {
    func number(_ at: Int, _ count: Int) -> Int? {
      guard at + count <= bytes.count else { return nil }
      return bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) }
    }
    guard bytes.count <= Limits.dnsMessageLength, number(0, 2) == Int(query.id) else { return nil }
    guard let flags = number(2, 2), flags >> 15 == 1, (flags >> 11) & 15 == 0, flags & 15 == 0 else { return nil }
    let counts = (0..<4).compactMap { number(4 + 2 * $0, 2) }
    guard counts.count == 4, counts.reduce(0, +) <= Limits.dnsRecordCount else { return nil }
    var (at, found) = (12, [IPAddress]())
    for index in 0..<counts.reduce(0, +) {
      guard let (name, end) = name(bytes, at), end + 4 <= bytes.count else { return nil }
      at = end + 4
      if index < counts[0] { continue }
      guard let kind = number(end, 2), let type = number(end + 2, 2), let time = number(end + 4, 4),
        let length = number(end + 8, 2), end + 10 + length <= bytes.count
      else { return nil }
      at = end + 10 + length
      let isAuthority = index >= counts[0] + counts[1] && index < counts[0] + counts[1] + counts[2]
      guard kind == 1 || kind == 28, type & 0x7FFF == 1, time > 0, !isAuthority else { continue }
      guard length == (kind == 1 ? 4 : 16) else { return nil }
      let isOurs =
        name.count == 2 && name[0].lowercased == Array("hive".utf8) && name[1].lowercased == Array("local".utf8)
      if isOurs, let address = IPAddress(octets: bytes[(end + 10)..<at]) { found.append(address) }
    }
    return found
  }

  private static func name(_ bytes: [UInt8], _ start: Int) -> (labels: [[UInt8]], end: Int)? {
    var (labels, at, end, begin, jumps) = ([[UInt8]](), start, Int?.none, start, 0)
    while at < bytes.count {
      let length = Int(bytes[at])
      if length == 0 { return labels.reduce(1) { $0 + $1.count + 1 } <= 255 ? (labels, end ?? at + 1) : nil }
      if length >= 0xC0 {
        guard at + 1 < bytes.count else { return nil }
        let target = (length - 0xC0) * 256 + Int(bytes[at + 1])
        jumps += 1
        guard target < begin, jumps <= 127 else { return nil }
        end = end ?? at + 2
        (at, begin) = (target, target)
      } else {
        guard length < 64, at + length < bytes.count, labels.count < 128 else { return nil }
        labels.append(Array(bytes[(at + 1)...(at + length)]))
        at += length + 1
      }
    }
    return nil
  }
}

extension [UInt8] {
  fileprivate var lowercased: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}

nonisolated(unsafe) private let page = GuardPage(room: 2 * Limits.dnsMessageLength + 1)
