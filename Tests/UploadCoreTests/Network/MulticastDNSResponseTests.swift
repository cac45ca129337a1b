import Testing
import UploadCore

/// Samples are assembled as in RFC 1035, 4.1, not by the code under test.
struct MulticastDNSResponseTests {
  private let query = MulticastDNSQuery(name: "hive.local", id: 0x1234)!
  private static let name: [UInt8] = [4] + Array("hive".utf8) + [5] + Array("local".utf8) + [0]
  private static let question = name + [0, 1, 0x80, 1]
  private static let ipv4: [UInt8] = [192, 0, 2, 7]
  private static let ipv6: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]

  private func head(_ counts: [UInt8], id: [UInt8] = [0x12, 0x34], flags: [UInt8] = [0x84, 0]) -> [UInt8] {
    id + flags + counts.flatMap { [0, $0] }
  }

  private func record(
    _ owner: [UInt8], _ data: [UInt8], type: UInt8? = nil, class classBytes: [UInt8] = [0, 1],
    ttl: [UInt8] = [0, 0, 0, 10]
  ) -> [UInt8] {
    owner + [0, type ?? (data.count == 4 ? 1 : 28)] + classBytes + ttl + [0, UInt8(data.count)] + data
  }

  /// Reads a message that ends right before a guard page. The lists are of addresses' bytes.
  private func read(_ message: [UInt8]) -> [[UInt8]]? {
    GuardPage(room: message.count).placing(message[...]) { MulticastDNSResponse.addresses(in: $0, to: query) }?
      .map { $0.bytes }
  }

  // MARK: The question

  @Test func aQuestionIsOneOfASimpleResolver() {
    let header: [UInt8] = [0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    #expect(query.message(for: .a) == header + Self.name + [0, 1, 0x80, 1])
    #expect(query.message(for: .aaaa) == header + Self.name + [0, 28, 0x80, 1])
    #expect(MulticastDNSQuery(name: "hive.local.", id: 0x1234)?.message(for: .a) == query.message(for: .a))
  }

  @Test(arguments: ["hive.local", "hive.local.", "HIVE.LOCAL", "a.b.local", "h\u{FC}tte.local"])
  func namesBelowLocalAreAskedFor(name: String) { #expect(MulticastDNSQuery.isAsked(for: name)) }

  @Test(
    arguments: [
      "", ".", "local", "local.", ".local", "hive", "hive.test", "hive.local.test", "hivelocal", "a..local",
      "hive.local..",
      "192.0.2.1", "fe80::1", "localhost", String(repeating: "a", count: 64) + ".local",
    ])
  func otherNamesAreNotAskedFor(name: String) { #expect(!MulticastDNSQuery.isAsked(for: name)) }

  @Test func aNameHasUpTo255BytesInAMessage() {
    let label = String(repeating: "a", count: 49) + "."
    let long = String(repeating: label, count: 4)
    #expect(
      MulticastDNSQuery(name: long + String(repeating: "b", count: 47) + ".local", id: 1)?.message(for: .a).count == 271
    )
    #expect(!MulticastDNSQuery.isAsked(for: long + String(repeating: "b", count: 48) + ".local"))
  }

  // MARK: Answers

  @Test func addressesOfTheNameAreFound() {
    #expect(read(head([1, 1, 0, 0]) + Self.question + record(Self.name, Self.ipv4)) == [Self.ipv4])
    #expect(read(head([0, 1, 0, 0]) + record(Self.name, Self.ipv6)) == [Self.ipv6])
    let both = record(Self.name, Self.ipv6, class: [0x80, 1]) + record([0xC0, 12], Self.ipv4, class: [0x80, 1])
    #expect(read(head([0, 2, 0, 0]) + both) == [Self.ipv6, Self.ipv4])
    #expect(read(head([0, 0, 0, 0])) == [])
  }

  @Test func theCaseOfLettersDoesNotMatter() {
    let upper = Self.name.map { $0 >= 0x61 ? $0 & 0xDF : $0 }
    #expect(read(head([0, 1, 0, 0]) + record(upper, Self.ipv4)) == [Self.ipv4])
  }

  @Test func answersAndAdditionalRecordsCountAndAuthorityDoesNot() {
    let records = [[UInt8](1...4), [5, 6, 7, 8], [9, 10, 11, 12]].flatMap { record([0xC0, 12], $0) }
    #expect(read(head([1, 1, 1, 1]) + Self.question + records) == [[1, 2, 3, 4], [9, 10, 11, 12]])
  }

  @Test func recordsOfOthersTypesClassesAndGoodbyesAreSkipped() {
    let others: [[UInt8]] = [
      record([4] + Array("hove".utf8) + [0xC0, 17], Self.ipv4), record([1, 0x61] + [0xC0, 12], Self.ipv4),
      record([0xC0, 17], Self.ipv4), record([0], Self.ipv4), record([0xC0, 12], [1, 2, 3], type: 16),
      record([0xC0, 12], Self.ipv4, class: [0, 3]), record([0xC0, 12], Self.ipv4, ttl: [0, 0, 0, 0]),
    ]
    for other in others {
      let message = head([1, 2, 0, 0]) + Self.question + other + record([0xC0, 12], [1, 2, 3, 4])
      #expect(read(message) == [[1, 2, 3, 4]])
    }
  }

  @Test func anyOtherMessageThanAResponseToTheQueryIsRefused() {
    let answer = Self.question + record([0xC0, 12], Self.ipv4)
    #expect(read(head([1, 1, 0, 0]) + answer) == [Self.ipv4])
    for id: [UInt8] in [[0x12, 0x35], [0x34, 0x12], [0, 0]] {
      #expect(read(head([1, 1, 0, 0], id: id) + answer) == nil)
    }
    // A question, another operation, and errors (RFC 6762, 18.2, 18.3, 18.11). The other bits do not matter.
    for flags: [UInt8] in [[0x04, 0], [0x8C, 0], [0xFC, 0], [0x84, 1], [0x84, 3], [0x84, 15]] {
      #expect(read(head([1, 1, 0, 0], flags: flags) + answer) == nil)
    }
    for flags: [UInt8] in [[0x80, 0], [0x87, 0xF0]] {
      #expect(read(head([1, 1, 0, 0], flags: flags) + answer) == [Self.ipv4])
    }
  }

  @Test func anAddressOfAnotherLengthIsRefused() {
    for length in [0, 3, 5, 16] {
      #expect(read(head([0, 1, 0, 0]) + record(Self.name, [UInt8](repeating: 1, count: length), type: 1)) == nil)
      #expect(
        read(head([0, 1, 0, 0]) + record(Self.name, [UInt8](repeating: 1, count: length == 16 ? 4 : length), type: 28))
          == nil)
    }
  }

  // MARK: Every length

  @Test func aMessageThatEndsTooEarlyIsRefusedWhereverItEnds() {
    let whole =
      head([1, 1, 1, 1]) + Self.question + record([0xC0, 12], Self.ipv4) + record(Self.name, Self.ipv6)
      + record([4] + Array("hive".utf8) + [0xC0, 17], Self.ipv6)
    #expect(read(whole) == [Self.ipv4, Self.ipv6])
    for length in 0..<whole.count { #expect(read(Array(whole[..<length])) == nil, "\(length) bytes") }
    for count in 1...20 { #expect(read(whole + whole[..<count]) == [Self.ipv4, Self.ipv6]) }
  }

  @Test func eachLimitHolds() {
    let one = record([0xC0, 12], [1, 2, 3, 4])
    func message(_ count: Int) -> [UInt8] {
      [0x12, 0x34, 0x84, 0, 0, 1, UInt8(count >> 8), UInt8(count & 255), 0, 0, 0, 0] + Self.question
        + [[UInt8]](repeating: one, count: count).flatMap { $0 }
    }
    #expect(read(message(Limits.dnsRecordCount - 1))?.count == Limits.dnsRecordCount - 1)
    #expect(read(message(Limits.dnsRecordCount)) == nil)
    let short = head([1, 1, 0, 0]) + Self.question + one
    let most = short + [UInt8](repeating: 0, count: Limits.dnsMessageLength - short.count)
    #expect(read(most) == [[1, 2, 3, 4]])
    #expect(read(most + [0]) == nil)
  }

  // MARK: Compression

  @Test func aPointerMustPointBackwards() {
    let start = 12 + UInt8(Self.question.count)
    for pointer: [UInt8] in [[0xC0, start], [0xC0, start + 1], [0xC0, 255], [0xFF, 0xFF]] {
      #expect(read(head([1, 1, 0, 0]) + Self.question + record(pointer, Self.ipv4)) == nil)
      #expect(read(head([1, 1, 0, 0]) + Self.question + record([1, 0x61] + pointer, Self.ipv4)) == nil)
    }
    // Two that point at each other: the second would have to point forwards.
    let pair = record([0xC0, start + 16], Self.ipv4) + record([0xC0, start], Self.ipv4)
    #expect(read(head([1, 2, 0, 0]) + Self.question + pair) == nil)
    // From a label back to before the label, for ever.
    #expect(read(head([1, 1, 0, 0]) + Self.question + record([1, 0x61, 0xC0, start], Self.ipv4)) == nil)
  }

  @Test func lengthsFrom64To191AreNoLabels() {
    for length: UInt8 in [64, 65, 127, 128, 191] {
      let label = [length] + [UInt8](repeating: 0x61, count: Int(length)) + [0]
      #expect(read(head([0, 1, 0, 0]) + record(label, Self.ipv4)) == nil)
    }
  }

  @Test func aNameOf255BytesIsReadAndALongerOneIsNot() {
    func name(_ last: Int) -> [UInt8] {
      [63, 63, 63, last].flatMap { [UInt8($0)] + [UInt8](repeating: 0x61, count: $0) } + [0]
    }
    #expect(read(head([0, 2, 0, 0]) + record(name(61), Self.ipv4) + record(Self.name, Self.ipv4)) == [Self.ipv4])
    #expect(read(head([0, 2, 0, 0]) + record(name(62), Self.ipv4) + record(Self.name, Self.ipv4)) == nil)
  }
}
