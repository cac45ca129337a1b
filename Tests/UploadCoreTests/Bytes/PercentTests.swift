import Testing
import UploadCore

struct PercentTests {
  @Test func plainCharactersStayAsTheyAre() {
    let plain = "ABCXYZabcxyz0123456789-._~/:=,+@"
    #expect(Percent.encode(bytes(plain)) == plain)
  }

  @Test(
    arguments: [
      ([0x20], "%20"), ([0x25], "%25"), ([0x00], "%00"), ([0xFF], "%FF"), ([0x0A, 0x7F], "%0A%7F"),
      ([0xC3, 0xA9], "%C3%A9"),
      ([0x22], "%22"), ([0x3F, 0x23, 0x26], "%3F%23%26"), ([], ""),
    ] as [([UInt8], String)])
  func otherBytesAreTwoDigitsAfterAPercentSign(sample: [UInt8], text: String) {
    #expect(Percent.encode(sample) == text)
    #expect(Percent.decode(text) == sample)
  }

  @Test func everyByteComesBack() {
    let all = Array(UInt8.min...UInt8.max)
    #expect(Percent.decode(Percent.encode(all)) == all)
    #expect(Percent.encode(all).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
  }

  @Test(
    arguments: [("%c3%A9", [0xC3, 0xA9]), ("a%2fb", [0x61, 0x2F, 0x62]), ("%2541", [0x25, 0x34, 0x31])]
      as [(String, [UInt8])])
  func digitsHaveEitherCaseAndAreReadOnce(text: String, sample: [UInt8]) {
    #expect(Percent.decode(text) == sample)
  }

  @Test func textThatIsNotEncodedStaysAsItIs() {
    #expect(Percent.decode("a b é") == bytes("a b é"))
  }

  @Test(arguments: ["%", "%4", "a%", "a%4", "%%41", "%g1", "%1g", "% 1", "%-1", "%+1", "%４1"])
  func aPercentSignWithoutTwoDigitsIsAnError(text: String) {
    #expect(Percent.decode(text) == nil)
  }
}
