import Testing
import UploadCore

private func read(_ text: String) throws -> JSONValue { try JSONReader.read(bytes(text)) }

/// The scalars of a JSON string, because String's == treats different encodings of a character as equal.
private func scalars(_ text: String) throws -> [UInt32] {
  try #require(try read("\"" + text + "\"").string).unicodeScalars.map { $0.value }
}

/// RFC 8259
struct JSONReaderTests {
  // MARK: Values

  @Test func everyKindOfValueIsRead() throws {
    #expect(try read("null") == .null)
    #expect(try read("true") == .bool(true))
    #expect(try read("false") == .bool(false))
    #expect(try read("\"\"") == .string(""))
    #expect(try read("[]") == .array([]))
    #expect(try read("{}") == .object([]))
    #expect(try read("[1,\"2\",[null]]") == .array([.number("1"), .string("2"), .array([.null])]))
  }

  @Test func allFourSpacesMayStandAroundEverything() throws {
    let text = " \t\r\n{ \"a\" :\t[ 1\n,\r2 ] , \"b\" : { } } \n"
    let value = try read(text)
    #expect(value["a"] == .array([.number("1"), .number("2")]))
    #expect(value["b"] == .object([]))
  }

  @Test func membersAreFoundByNameAndTheLastOfARepeatedNameCounts() throws {
    let value = try read(#"{"a":1,"":2,"a":3}"#)
    #expect(value["a"]?.integer == 3)
    #expect(value[""]?.integer == 2)
    #expect(value["b"] == nil)
    #expect(try read("[1]")["a"] == nil)
  }

  // MARK: Numbers

  @Test(arguments: [
    "0", "-0", "1", "-1", "10", "1.0", "0.5", "-0.0", "1e1", "1E1", "1e+1", "1e-1", "1e400", "-1e400", "0e0", "1.5E-07",
    "123456789012345678901234567890",
  ])
  func numbersKeepTheirSpelling(text: String) throws {
    #expect(try read(text) == .number(text))
    #expect(try read("[" + text + "]") == .array([.number(text)]))
  }

  @Test(arguments: [
    "01", "-01", "00", "1.", "-1.", ".1", "-.1", "-", "+1", "1e", "1e+", "1E-", "1.e1", "1..0", "1e1.0", "0x1", "1_0",
    "١",
    "NaN", "Infinity", "-Infinity", "--1", "1a", "1 2",
  ])
  func otherSpellingsAreNoNumbers(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
    #expect(throws: JSONError.self) { try read("[" + text + "]") }
  }

  @Test func wholeNumbersComeAsIntegersAlsoFromStrings() throws {
    #expect(try read("9223372036854775807").integer == Int64.max)
    #expect(try read("-9223372036854775808").integer == Int64.min)
    #expect(try read("\"42\"").integer == 42)
    for text in ["9223372036854775808", "1.5", "1e400", "\"\"", "\"4 2\"", "null", "true", "[1]"] {
      #expect(try read(text).integer == nil)
    }
  }

  // MARK: Strings

  @Test func everyEscapeIsRead() throws {
    #expect(try scalars(#"\"\\\/\b\f\n\r\t"#) == [0x22, 0x5C, 0x2F, 0x08, 0x0C, 0x0A, 0x0D, 0x09])
    #expect(try scalars(#"\u0041\u00e9\u00E9\u97f3\u0000\uFFFF"#) == [0x41, 0xE9, 0xE9, 0x97F3, 0, 0xFFFF])
  }

  @Test func surrogatePairsAreOneCharacter() throws {
    #expect(try scalars(#"\uD83C\uDFB8"#) == [0x1F3B8])
    #expect(try scalars(#"\uD800\uDC00x\uDBFF\uDFFF"#) == [0x10000, 0x78, 0x10FFFF])
  }

  @Test(
    arguments: [
      (#"\uD83C"#, [0xFFFD]), (#"\uDFB8"#, [0xFFFD]), (#"\uDFB8\uD83C"#, [0xFFFD, 0xFFFD]),
      (#"\uD83Cx"#, [0xFFFD, 0x78]), (#"\uD83C\n"#, [0xFFFD, 0x0A]), (#"\uD83C\u0041"#, [0xFFFD, 0x41]),
      (#"\uD83C\uD83C\uDFB8"#, [0xFFFD, 0x1F3B8]), (#"\uD83C\\u"#, [0xFFFD, 0x5C, 0x75]),
    ] as [(String, [UInt32])])
  func aLoneSurrogateBecomesTheReplacementCharacter(text: String, expected: [UInt32]) throws {
    #expect(try scalars(text) == expected)
  }

  @Test func rawUTF8IsRead() throws {
    #expect(try scalars("é音🎸\u{7F}\u{10FFFF}/") == [0xE9, 0x97F3, 0x1F3B8, 0x7F, 0x10FFFF, 0x2F])
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
      [0xC3],
      [0xE9, 0x9F], [0xF0, 0x9F, 0x8E],
    ] as [[UInt8]])
  func bytesThatAreNotUTF8AreRefused(sequence: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONReader.read(bytes("\"a") + sequence + bytes("b\"")) }
    #expect(throws: JSONError.self) { try JSONReader.read(sequence) }
  }

  @Test(arguments: [
    "\"", "\"a", "\"\\\"", "\"\\", "'a'", "\"\\x\"", "\"\\u\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\U0041\"",
    "\"\\ud83c\\u12\"",
    "\"a\tb\"", "\"a\nb\"", "\"\0\"", "\"\u{1F}\"", "\"a\" \"b\"",
  ])
  func brokenStringsAreRefused(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  // MARK: Structure

  @Test(arguments: [
    "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1:2]", "{\"a\"", "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{1:1}", "{\"a\",1}", "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}",
    "{\"a\" 1}",
    "[1}", "{]", "[1]]", "{}{}", "1,", "nul", "nulll", "True", "NULL", "tru", "undefined", "// c\n1", "/* c */1",
    "[1]//",
    "\u{FEFF}1", "\u{A0}1", "1\u{B}", "\u{C}1", "1\0", "<html>",
  ])
  func malformedJSONIsRefused(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test(arguments: [("[1,]", 3), ("{\"a\" 1}", 5), ("12x", 2), ("", 0), ("[", 1), ("\u{FEFF}1", 0), ("\"ab\u{1}\"", 3)])
  func theErrorNamesTheByte(text: String, offset: Int) {
    #expect(throws: JSONError.unexpected(offset: offset)) { try read(text) }
  }

  // MARK: Depth

  private func nested(_ depth: Int, _ open: String, _ close: String, _ inner: String) -> String {
    String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
  }

  @Test(arguments: [("[", "]", ""), ("{\"a\":", "}", "1"), ("[", "]", "1")])
  func nestingAtTheLimitIsReadAndDeeperIsNot(open: String, close: String, inner: String) throws {
    _ = try read(nested(Limits.jsonDepth, open, close, inner))
    for depth in [Limits.jsonDepth + 1, 100_000] {
      #expect(throws: JSONError.tooDeep(limit: 64)) { try read(nested(depth, open, close, inner)) }
      #expect(throws: JSONError.tooDeep(limit: 64)) { try read(nested(depth, open, "", "")) }
    }
  }

  @Test func nestingIsCountedDownAgain() throws {
    let deep = nested(Limits.jsonDepth - 1, "[", "]", "")
    _ = try read("[" + deep + "," + deep + "]")
  }
}
