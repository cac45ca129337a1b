import Testing
import UploadCore

struct Base64Tests {
  /// RFC 4648, 10
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func theVectorsOfTheStandardHold(text: String, encoded: String) {
    #expect(Base64.encode(bytes(text)) == encoded)
  }

  @Test func everyDigitOfTheAlphabetIsWritten() {
    let all: [UInt8] = [
      0x00, 0x10, 0x83, 0x10, 0x51, 0x87, 0x20, 0x92, 0x8B, 0x30, 0xD3, 0x8F, 0x41, 0x14, 0x93, 0x51, 0x55, 0x97, 0x61,
      0x96, 0x9B, 0x71, 0xD7, 0x9F, 0x82, 0x18, 0xA3, 0x92, 0x59, 0xA7, 0xA2, 0x9A, 0xAB, 0xB2, 0xDB, 0xAF, 0xC3, 0x1C,
      0xB3, 0xD3, 0x5D, 0xB7, 0xE3, 0x9E, 0xBB, 0xF3, 0xDF, 0xBF,
    ]
    #expect(Base64.encode(all) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  }

  @Test func highBytesDoNotSpillIntoOtherDigits() {
    #expect(Base64.encode([0xFF]) == "/w==")
    #expect(Base64.encode([0xFF, 0xFF]) == "//8=")
    #expect(Base64.encode([0xFF, 0xFF, 0xFF]) == "////")
  }

  @Test func encodedTextIsDecoded() {
    for length in 0...70 {
      let original = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      #expect(Base64.decode(Base64.encode(original).utf8) == original)
    }
    #expect(Base64.decode("Zm8".utf8) == bytes("fo") && Base64.decode("Zm8=trailing".utf8) == bytes("fo"))
    #expect(Base64.decode("Zm9v YmFy".utf8) == nil && Base64.decode("Zm-_".utf8) == nil)
  }
}
