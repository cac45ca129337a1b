import Testing
import UploadCore

struct AddressFamilyTests {
  @Test(arguments: [
    ("192.0.2.7", AddressFamily.ipv6, false), ("2001:db8::7", .ipv4, true), ("fe80::1%eth0", .ipv4, true),
  ])
  func anAddressOfTheOtherFamilyIsExcluded(host: String, family: AddressFamily, isIPv6: Bool) {
    #expect(family.problem(ofUnknown: host) == .addressExcluded(host: host, isIPv6: isIPv6))
  }

  @Test(arguments: [
    ("hive.example", AddressFamily.ipv6), ("hive.example", .any), ("192.0.2.7", .ipv4), ("2001:db8::7", .ipv6),
    ("fe80::1%nowhere", .any), ("192.0.2", .ipv6),
  ])
  func anyOtherUnknownHostIsNoSuchName(host: String, family: AddressFamily) {
    #expect(family.problem(ofUnknown: host) == .noSuchName(host: host))
  }
}
