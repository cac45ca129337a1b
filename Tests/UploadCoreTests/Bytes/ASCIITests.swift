import Testing
import UploadCore

struct ASCIITests {
  private let everyByte = UInt8.min...UInt8.max

  @Test func tokenCharactersAreThoseOfTheGrammarAndNoOthers() {
    // RFC 9110, 5.6.2
    let expected = Set(
      bytes(
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    #expect(Set(everyByte.filter(ASCII.isTokenCharacter)) == expected)
  }

  @Test func lettersDigitsAndControlsAreThoseOfTheGrammar() {
    // RFC 5234, B.1
    #expect(everyByte.filter(ASCII.isDigit) == bytes("0123456789"))
    #expect(everyByte.filter(ASCII.isLetter) == bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    #expect(everyByte.filter(ASCII.isControl) == Array(0...31) + [127])
  }

  @Test func hexadecimalDigitsHaveTheirValuesInEitherCase() {
    let digits = bytes("0123456789abcdefABCDEF")
    #expect(digits.map { ASCII.hexValue($0) } == Array(0...15) + Array(10...15))
    #expect(everyByte.count { ASCII.hexValue($0) != nil } == 22)
  }

  @Test func bytesAreWrittenAsTwoHexadecimalDigits() {
    var text: [UInt8] = bytes(">")
    ASCII.appendHex([0x00, 0x0F, 0xA9, 0xFF], to: &text)
    ASCII.appendHex([0x0D, 0xBE], uppercase: true, to: &text)
    #expect(text == bytes(">000fa9ff0DBE"))
  }

  @Test(arguments: [
    ("0", 0), ("7", 7), ("007", 7), ("9223372036854775807", Int64.max), ("000000000000000000000001", 1),
  ])
  func decimalDigitsAreANumber(text: String, value: Int64) {
    #expect(ASCII.decimal(text.utf8) == value)
  }

  @Test(arguments: [
    "", " ", "+1", "-1", " 1", "1 ", "1a", "0x10", "1.0", "1,1", "٣", "9223372036854775808", "18446744073709551617",
    "99999999999999999999999999",
  ])
  func anythingElseIsNoNumber(text: String) {
    #expect(ASCII.decimal(text.utf8) == nil)
  }

  @Test func onlyTheCaseOfASCIILettersIsIgnored() {
    func equal(_ one: String, _ other: String) -> Bool { ASCII.equalsIgnoringCase(one.utf8, other.utf8) }
    #expect(equal("Content-Length", "cONTENT-lENGTH"))
    #expect(equal("", ""))
    #expect(!equal("@", "`"))
    #expect(!equal("[", "{"))
    #expect(!equal("É", "é"))
    #expect(!equal("abc", "ab"))
    #expect(!equal("ab", "abc"))
    #expect(ASCII.lowercased("ÀBC@[Z") == "Àbc@[z")
  }

  @Test func spacesAndTabsAreTrimmedAtTheEndsOnly() {
    func trimmed(_ text: String) -> String { String(decoding: ASCII.trimmed(bytes(text)[...]), as: UTF8.self) }
    #expect(trimmed(" \t a \t b\t ") == "a \t b")
    #expect(trimmed(" \t ") == "")
    #expect(trimmed("") == "")
    #expect(trimmed("\u{B}a\u{C}") == "\u{B}a\u{C}")
  }
}
