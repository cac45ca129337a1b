import Testing
import UploadCore

struct ResponseHeadTests {
  private func parse(_ text: String) throws -> ResponseHead { try ResponseHead(parsing: bytes(text)[...]) }

  @Test func statusAndFieldsAreReadInOrder() throws {
    let head = try parse("HTTP/1.1 201 Created\r\nContent-Type: text/html; charset=x\r\nEmpty:\r\nA:b")
    let fields = [Field("Content-Type", "text/html; charset=x"), Field("Empty", ""), Field("A", "b")]
    #expect(head == ResponseHead(minorVersion: 1, status: 201, fields: fields))
  }

  @Test(arguments: [
    "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 OK", "HTTP/1.1 200  many words ", "HTTP/1.1 200 \u{FC}\t",
    "HTTP/1.1 200 OK\r",
  ])
  func theReasonMayBeAnything(line: String) throws {
    #expect(try parse(line) == ResponseHead(minorVersion: 1, status: 200, fields: []))
  }

  @Test func everyMinorVersionIsRead() throws {
    #expect(try parse("HTTP/1.0 200 OK").minorVersion == 0)
    #expect(try parse("HTTP/1.9 200 OK").minorVersion == 9)
  }

  @Test(arguments: [
    "", " ", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 20 OK", "HTTP/1.1 2x0 OK",
    "HTTP/1.1 +20 OK", "HTTP/1.1\t200 OK", "HTTP/1.1  200 OK", "HTTP/1. 200 OK", "HTTP/1.10 200 OK", "HTTP/2.0 200 OK",
    "http/1.1 200 OK", " HTTP/1.1 200 OK", "HTTP/1.1 200OK", "ICY 200 OK000000",
  ])
  func anythingElseIsNotHTTP(line: String) {
    #expect(throws: ResponseError.notHTTP) { try parse(line) }
  }

  @Test func statusesAtTheEdgesAreReadAndThoseBeyondAreNoStatuses() throws {
    #expect(try parse("HTTP/1.1 100 x").status == 100)
    #expect(try parse("HTTP/1.1 599 x").status == 599)
    for status in ["000", "099", "600", "999"] {
      #expect(throws: ResponseError.notHTTP) { try parse("HTTP/1.1 \(status) x") }
    }
  }

  @Test func onlyStatusesUnder200AreInterim() throws {
    #expect(try parse("HTTP/1.1 199 x").isInterim)
    #expect(try !parse("HTTP/1.1 200 x").isInterim)
  }

  @Test func spaceAroundAValueIsNotPartOfIt() throws {
    let head = try parse("HTTP/1.1 200 OK\r\nA: \t b  c \t\r\nB:\td")
    #expect(head.fields == [Field("A", "b  c"), Field("B", "d")])
  }

  @Test func aColonInAValueIsPartOfIt() throws {
    #expect(
      try parse("HTTP/1.1 200 OK\r\nLocation: http://[::1]:80/").fields == [Field("Location", "http://[::1]:80/")])
  }

  @Test func bytesOutsideUTF8InAValueDoNotStopTheReading() throws {
    let sample = bytes("HTTP/1.1 200 OK\r\nA: ") + [0xFC] + bytes("\r\nB: c")
    let head = try ResponseHead(parsing: sample[...])
    #expect(head.fields == [Field("A", "\u{FFFD}"), Field("B", "c")])
  }

  @Test(arguments: [
    "A : b", " A: b", "\tA: b", ": b", "A", "", "A B: c", "(A): b", "Ä: b", "A: b\0", "A: b\rc", "A: \u{1B}[2J",
    "A: \u{7F}",
    "A: b\r\n folded", "A: b\r\n\tfolded: c",
  ])
  func aBrokenFieldLineIsLeftOut(line: String) throws {
    let alone = try parse("HTTP/1.1 200 OK\r\n" + line)
    let between = try parse("HTTP/1.1 200 OK\r\nX: y\r\n" + line + "\r\nZ: z")
    #expect(alone.hasMalformedField && between.hasMalformedField)
    #expect(between.fields.first == Field("X", "y") && between.fields.last == Field("Z", "z"))
  }

  @Test(arguments: [
    "Content-Length : 5", "content-length: 5\r6", " Content-Length: 5", "Content-Length", "Transfer-Encoding : chunked",
    "Content-Length: 5\r\n 6", "Transfer-Encoding: chunked\r\n\t, gzip", "Transfer-Encoding: chunked\0",
  ])
  func aBrokenLineThatSaysHowLongTheResponseIsIsAnError(line: String) {
    #expect(throws: ResponseError.invalidField) { try parse("HTTP/1.1 200 OK\r\n" + line) }
    #expect(throws: ResponseError.invalidField) { try parse("HTTP/1.1 200 OK\r\nX: y\r\n" + line + "\r\nZ: z") }
  }

  @Test func wholeLinesAreNotMalformed() throws {
    #expect(try !parse("HTTP/1.1 200 OK\r\nA: b").hasMalformedField)
  }

  @Test(arguments: ["HTTP/1.1 200 O\rK", "HTTP/1.1 200 O\0K", "HTTP/1.1 200 OK\r\r"])
  func aBareCarriageReturnOrNULInTheStatusLineIsAnError(line: String) {
    #expect(throws: ResponseError.invalidField) { try parse(line + "\r\nA: b") }
  }

  @Test func fieldsAreCounted() throws {
    func head(_ count: Int) -> String { "HTTP/1.1 200 OK" + String(repeating: "\r\nA: b", count: count) }
    #expect(try parse(head(128)).fields.count == 128)
    #expect(throws: ResponseError.tooManyFields(limit: Limits.fieldCount)) { try parse(head(129)) }
    #expect(throws: ResponseError.tooManyFields(limit: Limits.fieldCount)) { try parse(head(5000)) }
  }
}
