import Testing
import UploadCore

struct ListLineTests {
  private func options(_ text: String) throws -> [String] {
    try ListLine(parsing: bytes(text)).options.map {
      let field = $0.field.map { "[" + String(decoding: $0, as: UTF8.self) + "]" } ?? ""
      return String(decoding: $0.name, as: UTF8.self) + field + "=" + String(decoding: $0.value, as: UTF8.self)
    }
  }

  private func failure(_ text: String) -> ListLineError? {
    do throws(ListLineError) { _ = try ListLine(parsing: bytes(text)) } catch { return error }
    return nil
  }

  @Test func aLineHasAFileAndOptions() throws {
    #expect(try ListLine(parsing: bytes("{\"file\":\"a b\"}")).file == bytes("a b"))
    let line =
      "{\"label\":\"é\\n\",\"event_date\":\"x\",\"org-name\":\"y\",\"file\":\"a\",\"rating\":4.50,\"field\":{\"b\":\"=\",\"a\":1}}\r"
    #expect(
      try options(line) == ["label=é\n", "event-date=x", "org-name=y", "rating=4.50", "field[b]==", "field[a]=1"])
  }

  @Test func aPathCanHaveAnyBytes() throws {
    let line = try ListLine(parsing: bytes("{\"file\":1,\"file_percent\":\"/caf%E9\"}"))
    #expect(line.file == bytes("/caf") + [0xE9])
    #expect(line.options.isEmpty)
  }

  @Test func aLineSaysInWhichDirectoryTheFileWasFound() throws {
    func below(_ members: String) throws -> [UInt8]? { try ListLine(parsing: bytes("{" + members + "}")).foundBelow }
    #expect(try below("\"file\":\"/rec/a\",\"below\":\"/rec\"") == bytes("/rec"))
    #expect(try below("\"file_percent\":\"%E9/a\",\"below_percent\":\"%E9/\"") == [0xE9, UInt8(ascii: "/")])
    #expect(try below("\"file\":\"a\"") == nil)
    for value in ["true", "\"\"", "\"/rec/a\"", "\"/re\"", "\"/rec/b\""] {
      #expect(failure("{\"file\":\"/rec/a\",\"below\":" + value + "}") == .wrongValue(member: "below"))
    }
  }

  @Test func aBrokenLineIsRefused() {
    #expect(failure("") == .notJSON(.unexpected(offset: 0)))
    #expect(failure("{\"file\":\"a\"} x") == .notJSON(.unexpected(offset: 13)))
    #expect(failure("\"a\"") == .notAnObject)
    #expect(failure("{\"label\":\"a\"}") == .noFile)
    for path in ["\"\"", "1", "null", "\"a\\u0000\"", "[\"a\"]"] {
      #expect(failure("{\"file\":" + path + "}") == .wrongValue(member: "file"))
    }
    for path in ["\"%\"", "\"%00\"", "\"\"", "1"] {
      #expect(failure("{\"file_percent\":" + path + "}") == .wrongValue(member: "file_percent"))
    }
    for value in ["true", "null", "[]", "{}"] {
      #expect(failure("{\"file\":\"a\",\"label\":" + value + "}") == .wrongValue(member: "label"))
    }
    for value in ["\"a=b\"", "{\"\":\"a\"}", "{\"a=b\":\"c\"}"] {
      #expect(failure("{\"file\":\"a\",\"field\":" + value + "}") == .wrongValue(member: "field"))
    }
    #expect(failure("{\"file\":\"a\",\"compare\":\"true\"}") == .wrongValue(member: "compare"))
    #expect(failure("{\"file\":\"a\",\"x\":\"\",\"x\":\"\"}") == .repeated(member: "x"))
  }

  @Test func aLineHasALimit() {
    let rest = "{\"file\":\"\"}".utf8.count
    #expect(failure("{\"file\":\"" + filler(Limits.listLineLength - rest) + "\"}") == nil)
    #expect(
      failure("{\"file\":\"" + filler(Limits.listLineLength - rest + 1) + "\"}")
        == .tooLong(limit: Limits.listLineLength))
  }
}
