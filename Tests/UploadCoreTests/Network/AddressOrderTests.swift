import Testing
import UploadCore

struct AddressOrderTests {
  @Test func addressFamiliesTakeTurns() {
    #expect(AddressOrder.interleaved([true, true, true, false, false], limit: 16) == [0, 3, 1, 4, 2])
    #expect(AddressOrder.interleaved([false, true, true], limit: 16) == [0, 1, 2])
    #expect(AddressOrder.interleaved([false, false], limit: 16) == [0, 1])
    #expect(AddressOrder.interleaved([], limit: 16) == [])
  }

  /// RFC 8305, 4: with broken IPv6, many AAAA records must not crowd out the A record.
  @Test(arguments: [15, 16, 17, 1000])
  func theListIsTruncatedAfterOneAddressOfEachKind(count: Int) {
    let order = AddressOrder.interleaved([Bool](repeating: true, count: count) + [false], limit: 16)
    #expect(order.count == 16 && order[1] == count && Set(order).count == 16)
    #expect(order.filter { $0 != count } == Array(0..<15))
  }

  @Test func theLimitHoldsInEitherHalfOfATurn() {
    for limit in 0...5 {
      #expect(
        AddressOrder.interleaved([true, true, true, false, false], limit: limit)
          == Array([0, 3, 1, 4, 2].prefix(limit)))
    }
  }

  @Test(arguments: ["localhost", "LocalHost", "localhost.", "a.localhost", "a.b.LOCALHOST."])
  func localNamesAreThisMachine(name: String) { #expect(AddressOrder.isLocalHost(name)) }

  @Test(arguments: ["", ".", "localhost..", "localhost.example", "xlocalhost", "local", "127.0.0.1", "localhos"])
  func otherNamesAreNot(name: String) { #expect(!AddressOrder.isLocalHost(name)) }
}
