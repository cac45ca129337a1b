import Testing
import UploadCore

struct RequestHeadTests {
  private func head(_ uri: String, _ fields: [Field] = []) throws -> HTTPRequest {
    HTTPRequest(method: "POST", target: try TargetURI(uri), fields: fields)
  }

  @Test func aHeadIsWrittenLineByLineWithHostFirst() throws {
    let head = try head(
      "https://GigHive.local:8443/api/uploads.php?ui=json",
      [Field("Accept", "application/json"), Field("Content-Length", "12345678901")])
    let expected =
      "POST /api/uploads.php?ui=json HTTP/1.1\r\nHost: gighive.local:8443\r\nAccept: application/json\r\n"
      + "Content-Length: 12345678901\r\n\r\n"
    #expect(try head.encodedHead() == bytes(expected))
  }

  @Test func anIPv6HostKeepsItsBrackets() throws {
    #expect(try head("http://[::1]/").encodedHead() == bytes("POST / HTTP/1.1\r\nHost: [::1]\r\n\r\n"))
  }

  @Test func valuesOutsideASCIIGoAsUTF8() throws {
    let expected = bytes("POST / HTTP/1.1\r\nHost: hive\r\nX-Band: ") + [0xC3, 0x9C] + bytes("\r\n\r\n")
    #expect(try head("http://hive", [Field("X-Band", "Ü")]).encodedHead() == expected)
  }

  @Test(arguments: ["a\r\nInjected: 1", "a\nInjected: 1", "a\rInjected: 1", "a\0"])
  func aValueCannotInjectALine(value: String) throws {
    let head = try head("http://hive", [Field("Authorization", value)])
    #expect(throws: RequestHeadError.invalidField(name: "Authorization")) { try head.encodedHead() }
  }

  @Test func aNameCannotInjectALine() throws {
    let head = try head("http://hive", [Field("A: b\r\nC", "d")])
    #expect(throws: RequestHeadError.invalidField(name: "A: b C")) { try head.encodedHead() }
  }

  @Test func aHeadAtTheLimitIsWrittenAndALongerOneIsNot() throws {
    // 17 bytes of request line, 12 of Host, 3 + 2 around the value, 2 for the empty line
    let longest = Limits.requestHeadLength - 36
    #expect(try head("http://hive", [Field("X", filler(longest))]).encodedHead().count == 16 << 10)
    let longer = try head("http://hive", [Field("X", filler(longest + 1))])
    #expect(throws: RequestHeadError.tooLong(limit: 16 << 10)) { try longer.encodedHead() }
  }
}
