import Glibc
import Testing
import UploadCore

struct IPAddressTests {
  /// The result of this machine's inet_pton(3), an independent implementation.
  private func peer(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
  }

  private static let samples = [
    "192.0.2.7", "0.0.0.0", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "01.2.3.4",
    "1.2.3.04",
    "1..2.3", "1.2.3.4 ", "+1.2.3.4", "0x1.2.3.4", "1.2.3.0000", "", "hive", ":", "::", "::1", "1::", "1::2", ":::",
    "1:::2",
    "1::2::3", "::1.2.3.4", "1.2.3.4::", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:1.2.3.4",
    "::1:2:3:4:5:6:1.2.3.4", "12345::", "g::", "fe80::1%eth0", "FE80::AbCd", "1:2:3:4::5:6:7:8", ":1::2", "1::2:",
    "::1.2.3",
    "1:2:3:4:5:6:7:", ":2:3:4:5:6:7:8", "::1.2.3.4:5",
  ]

  @Test(arguments: samples)
  func anAddressIsReadAsTheSystemReadsIt(text: String) {
    #expect(IPAddress(text.utf8)?.bytes == peer(text))
  }

  /// Every sample with each of its characters left out, or replaced.
  @Test func brokenAddressesAreReadAsTheSystemReadsThem() {
    for sample in IPAddressTests.samples {
      let bytes = Array(sample.utf8)
      for index in bytes.indices {
        for replacement in ["", ":", ".", "0", "f"] {
          let text = String(decoding: bytes[..<index] + replacement.utf8 + bytes[(index + 1)...], as: UTF8.self)
          #expect(IPAddress(text.utf8)?.bytes == peer(text), "\(text)")
        }
      }
    }
  }

  @Test(
    arguments: [
      ("192.0.2.7", "192.0.2.6", 31, true), ("192.0.2.7", "192.0.2.6", 32, false), ("192.0.2.7", "1.2.3.4", 0, true),
      ("192.0.2.7", "192.0.2.7", 33, false), ("fd00::1", "fdff::", 8, true), ("fd00::1", "fdff::", 9, false),
      ("::1", "::1", 128, true), ("::1", "::", 127, true), ("::1", "::", 128, false), ("::1", "::1", 129, false),
      ("::", "0.0.0.0", 0, false), ("128.0.0.0", "0.0.0.0", 1, false),
    ] as [(String, String, Int, Bool)])
  func addressesShareTheirFirstBits(one: String, other: String, bits: Int, expected: Bool) throws {
    let (one, other) = (try #require(IPAddress(one.utf8)), try #require(IPAddress(other.utf8)))
    #expect(one.shares(bits, with: other) == expected && other.shares(bits, with: one) == expected)
  }

  @Test func linkLocalAddressesAreKnown() {
    for text in ["fe80::1", "FEBF::"] { #expect(IPAddress(text.utf8)?.isLinkLocal == true) }
    for text in ["fec0::1", "::1", "169.254.0.1", "fd80::"] { #expect(IPAddress(text.utf8)?.isLinkLocal == false) }
  }
}
