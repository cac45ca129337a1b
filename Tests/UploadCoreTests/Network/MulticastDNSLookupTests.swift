import Testing
import UploadCore

/// A lookup in virtual time, on two interfaces.
struct MulticastDNSLookupTests {
  private typealias Lookup = MulticastDNSLookup
  private let query = MulticastDNSQuery(name: "hive.local", id: 7)!
  private let settling = Limits.multicastDNSSettlingMilliseconds

  private static func address(_ text: String) -> IPAddress { IPAddress(text.utf8)! }

  private func lookup(_ kinds: [MulticastDNSQuery.Kind] = [.aaaa, .a], limit: Int64 = 5000) -> MulticastDNSLookup {
    var eth0 = Lookup.Interface(index: 2, name: "eth0", isLoopback: false)
    eth0.prefixes = [(Self.address("192.0.2.2"), 24), (Self.address("fe80::2"), 64), (Self.address("2001:db8::2"), 64)]
    var lo = Lookup.Interface(index: 1, name: "lo", isLoopback: true)
    lo.prefixes = [(Self.address("127.0.0.1"), 8)]
    return MulticastDNSLookup(query, kinds: kinds, on: [lo, eth0], now: 1000, limitMilliseconds: limit)
  }

  private func answer(_ addresses: [String]) -> [UInt8] {
    let name: [UInt8] = [4] + Array("hive".utf8) + [5] + Array("local".utf8) + [0]
    return [0, 7, 0x84, 0, 0, 0, 0, UInt8(addresses.count), 0, 0, 0, 0]
      + addresses.flatMap { text in
        let bytes = Self.address(text).bytes
        return name + [0, bytes.count == 4 ? 1 : 28, 0, 1, 0, 0, 0, 10, 0, UInt8(bytes.count)] + bytes
      }
  }

  private func receive(
    _ addresses: [String], _ lookup: inout MulticastDNSLookup, at now: Int64 = 1001, from source: String = "192.0.2.1",
    port: UInt16 = 5353, interface: UInt32 = 2, hops: Int? = nil
  ) {
    let origin = Lookup.Origin(source: Self.address(source), port: port, interface: interface, hopLimit: hops)
    answer(addresses).withUnsafeBytes { lookup.receive($0, from: origin, now: now) }
  }

  // MARK: Time

  @Test func questionsAreRepeatedAfterASecondAndThenAfterTwiceAsLong() {
    var lookup = lookup()
    for (asked, next) in [(1000, 2000), (2000, 4000), (4000, 6000)] as [(Int64, Int64)] {
      #expect(lookup.next(now: asked) == .send)
      #expect(lookup.next(now: asked) == .wait(untilMilliseconds: next))
      #expect(lookup.next(now: next - 1) == .wait(untilMilliseconds: next))
    }
    #expect(lookup.next(now: 6000) == .finished)
    #expect(lookup.addresses.isEmpty)
  }

  @Test func theLimitHoldsWhereItIsShorter() {
    var lookup = lookup(limit: 300)
    #expect(lookup.next(now: 1000) == .send)
    #expect(lookup.next(now: 1000) == .wait(untilMilliseconds: 1300))
    #expect(lookup.next(now: 1300) == .finished)
  }

  @Test func withoutAnInterfaceThereIsNothingToWaitFor() {
    var lookup = MulticastDNSLookup(query, kinds: [.a], on: [], now: 0, limitMilliseconds: 5000)
    #expect(lookup.next(now: 0) == .finished)
  }

  @Test func aLookupIsFinishedOnceBothKindsAreKnown() {
    var lookup = lookup()
    #expect(lookup.next(now: 1000) == .send)
    receive(["192.0.2.1", "fe80::1"], &lookup)
    #expect(lookup.next(now: 1001) == .finished)
  }

  @Test(arguments: [MulticastDNSQuery.Kind.a, .aaaa])
  func aLookupForOneKindIsFinishedWithThatKind(kind: MulticastDNSQuery.Kind) {
    var lookup = lookup([kind])
    #expect(lookup.next(now: 1000) == .send)
    receive([kind == .a ? "fe80::1" : "192.0.2.1"], &lookup)
    #expect(lookup.next(now: 1001) == .wait(untilMilliseconds: 2000))
    receive(["192.0.2.1", "fe80::1"], &lookup)
    #expect(lookup.next(now: 1001) == .finished && lookup.addresses.count == 1)
  }

  @Test func theOtherKindIsWaitedForOnlyAMoment() {
    var lookup = lookup()
    #expect(lookup.next(now: 1000) == .send)
    receive(["192.0.2.1"], &lookup, at: 1990)
    #expect(lookup.next(now: 1990) == .wait(untilMilliseconds: 1990 + settling))
    // Neither a repeated answer nor a due question makes it longer.
    receive(["192.0.2.1", "192.0.2.3"], &lookup, at: 2010)
    #expect(lookup.next(now: 2010) == .wait(untilMilliseconds: 1990 + settling))
    #expect(lookup.next(now: 1990 + settling) == .finished)
    #expect(lookup.addresses.map { $0.address } == [Self.address("192.0.2.1"), Self.address("192.0.2.3")])
  }

  @Test func theOtherKindIsNotWaitedForBeyondTheLimit() {
    var lookup = lookup(limit: 300)
    receive(["192.0.2.1"], &lookup, at: 1290)
    #expect(lookup.next(now: 1290) == .wait(untilMilliseconds: 1300))
    #expect(lookup.next(now: 1300) == .finished && lookup.addresses.count == 1)
  }

  // MARK: Addresses

  @Test func iPv6ComesFirstAndLinkLocalAddressesGetTheirInterface() {
    var lookup = lookup()
    receive(["192.0.2.1", "fe80::1", "2001:db8::1"], &lookup)
    #expect(lookup.addresses.map { $0.address } == ["fe80::1", "2001:db8::1", "192.0.2.1"].map(Self.address))
    #expect(lookup.addresses.map { $0.zone } == [2, 0, 0])
    #expect(lookup.name(ofInterface: lookup.addresses[0].interface) == "eth0")
  }

  @Test func theSameLinkLocalAddressOnTwoNetworksIsTwoHosts() {
    var lookup = lookup()
    receive(["fe80::1", "192.0.2.1"], &lookup)
    receive(["fe80::1", "192.0.2.1"], &lookup, from: "127.0.0.1", interface: 1)
    #expect(lookup.addresses.map { $0.zone } == [2, 1, 0])
  }

  @Test func manyAddressesOfOneKindDoNotCrowdOutTheOther() {
    var lookup = lookup()
    for block in 1...3 { receive((1...30).map { "192.0.\(block).\($0)" }, &lookup) }
    receive(["fe80::1"], &lookup)
    #expect(lookup.addresses.count == Limits.addressCount + 1)
    #expect(lookup.addresses[0].address == Self.address("fe80::1"))
  }

  @Test(
    arguments: [
      "0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.251", "255.255.255.255", "::", "::1", "ff02::fb", "::ffff:192.0.2.1",
      "::192.0.2.1",
    ])
  func anAddressThatNoNeighbourCanHaveIsIgnored(address: String) {
    var lookup = lookup()
    receive([address], &lookup)
    #expect(lookup.addresses.isEmpty)
  }

  @Test(arguments: ["127.0.0.1", "::1"])
  func thisMachineMayAnswerForItself(address: String) {
    var lookup = lookup()
    receive([address], &lookup, from: "127.0.0.1", interface: 1)
    #expect(lookup.addresses.count == 1)
  }

  // MARK: Who says so

  @Test(
    arguments: [
      ("192.0.2.200", 64, true), ("192.0.2.200", nil, true), ("fe80::99", 64, true), ("2001:db8::5", 64, true),
      ("198.51.100.1", 255, true), ("2001:db8:1::5", 255, true), ("198.51.100.1", 64, false),
      ("198.51.100.1", nil, false), ("192.0.3.1", 254, false), ("2001:db8:1::5", 64, false), ("127.0.0.1", 64, false),
    ] as [(String, Int?, Bool)])
  func aNeighbourIsBelievedAndWhoeverIsFurtherAwayIsNot(source: String, hops: Int?, isBelieved: Bool) {
    var lookup = lookup()
    receive(["192.0.2.1"], &lookup, from: source, hops: hops)
    #expect(lookup.addresses.isEmpty != isBelieved)
  }

  @Test func anAnswerFromAnotherPortOrInterfaceIsIgnored() {
    var lookup = lookup()
    receive(["192.0.2.1"], &lookup, port: 5354)
    receive(["192.0.2.1"], &lookup, interface: 3, hops: 255)
    #expect(lookup.addresses.isEmpty)
  }
}
