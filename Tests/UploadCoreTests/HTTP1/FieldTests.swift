import Testing
import UploadCore

struct FieldTests {
  @Test func namesAreComparedWithoutCase() {
    #expect(Field("Content-LENGTH", "1").hasName("content-length"))
    #expect(!Field("Content-Length", "1").hasName("Content-Length "))
    #expect(!Field("Content-Length", "1").hasName("Content"))
  }

  @Test(arguments: ["value", "", "tab\tinside", "Grüße 🎸", "a: b, \"c\"; d=\\e"])
  func ordinaryValuesCanBeSent(value: String) {
    #expect(Field("X-Name_1", value).isSendable)
  }

  @Test(arguments: ["\r\nInjected: 1", "\n", "\r", "a\0b", "\u{1B}[2J", "\u{7F}", "\u{1}"])
  func valuesThatEndTheLineOrHoldControlsCannotBeSent(value: String) {
    #expect(!Field("X-Name", value).isSendable)
    #expect(!Field("X-Name", "a" + value).isSendable)
  }

  @Test(arguments: ["", "a b", "a:", "a\r\n", "näme", "a\0", "(a)", "a/b", "a\t"])
  func namesThatAreNoTokensCannotBeSent(name: String) {
    #expect(!Field(name, "value").isSendable)
  }

  private let fields = [
    Field("Via", "one"), Field("connection", "Keep-Alive;q=1 , X-y"), Field("VIA", "two"),
    Field("Connection", ",CLOSE, ,"),
  ]

  @Test func allValuesOfANameComeInOrder() {
    #expect(fields.values(of: "via") == ["one", "two"])
    #expect(fields.first("Via") == "one")
    #expect(fields.first("Host") == nil)
    #expect(fields.values(of: "Host") == [])
  }

  @Test func listsAreJoinedOverFieldsInLowerCaseWithoutParametersAndEmptyMembers() {
    #expect(fields.listMembers(of: "Connection") == ["keep-alive", "x-y", "close"])
    #expect(fields.listMembers(of: "Host") == [])
  }
}
