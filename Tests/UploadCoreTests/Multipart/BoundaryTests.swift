import Testing
import UploadCore

struct BoundaryTests {
  @Test func aBoundaryShowsAllItsRandomBits() {
    #expect(Boundary(random: Array(0...15)).text == "----GigHive-000102030405060708090a0b0c0d0e0f")
    #expect(Boundary(random: [UInt8](repeating: 0xFF, count: 16)).text.hasSuffix("-ffffffffffffffffffffffffffffffff"))
  }

  /// RFC 2046, 5.1.1: 1 to 70 of these characters, so that it needs no quotes (RFC 9110, 5.6.2) and ends in no space.
  @Test func aBoundaryIsAValidTokenOfAtMost70Characters() {
    let text = Boundary(random: [UInt8](repeating: 0x9A, count: 16)).text
    let allowed = bytes("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.'+")
    #expect(text.utf8.count <= 70)
    #expect(text.utf8.allSatisfy { allowed.contains($0) })
  }
}
