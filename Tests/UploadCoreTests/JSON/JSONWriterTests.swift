import Testing
import UploadCore

struct JSONWriterTests {
  private func written(_ value: String) -> String {
    var writer = JSONWriter()
    writer.add("k", value)
    return writer.finished()
  }

  @Test func anObjectIsOneLineInTheOrderOfItsMembers() {
    var writer = JSONWriter()
    writer.add("event", "delivered")
    writer.add("bytes", 5_000_000_000)
    writer.add("least", Int64.min)
    writer.add("ok", true)
    writer.add("again", false)
    let expected =
      #"{"event":"delivered","bytes":5000000000,"least":-9223372036854775808,"ok":true,"again":false}"#
    #expect(writer.finished() == expected)
  }

  @Test func listsOfTextsAreEscaped() {
    var writer = JSONWriter()
    writer.add("words", ["auto", "a\"b"])
    writer.add("none", [String]())
    #expect(writer.finished() == #"{"words":["auto","a\"b"],"none":[]}"#)
  }

  @Test func anEmptyObjectIsTwoBraces() {
    #expect(JSONWriter().finished() == "{}")
  }

  @Test(
    arguments: [(0, "0.000"), (7, "0.007"), (70, "0.070"), (999, "0.999"), (1000, "1.000"), (61_250, "61.250")]
      as [(Int64, String)])
  func durationsAreSecondsWithThreeDecimals(milliseconds: Int64, text: String) {
    var writer = JSONWriter()
    writer.add("seconds", milliseconds: milliseconds)
    #expect(writer.finished() == "{\"seconds\":" + text + "}")
  }

  @Test func charactersThatJSONOrTerminalsInterpretAreEscaped() {
    #expect(written("a\"b\\c/d") == #"{"k":"a\"b\\c/d"}"#)
    #expect(written("\n\r\t") == #"{"k":"\n\r\t"}"#)
    #expect(written("\r\n") == #"{"k":"\r\n"}"#)
    #expect(written("\u{0}\u{1}\u{8}\u{1B}\u{1F}") == #"{"k":"\u0000\u0001\u0008\u001b\u001f"}"#)
    #expect(written("\u{7F}\u{80}\u{9B}\u{9F}\u{2028}\u{2029}") == #"{"k":"\u007f\u0080\u009b\u009f\u2028\u2029"}"#)
    #expect(written("\u{61C}\u{200E}\u{202E}\u{2069}") == #"{"k":"\u061c\u200e\u202e\u2069"}"#)
  }

  @Test func otherTextGoesAsItIs() {
    let text = " Größe 音楽 🎸 \u{A0}\u{2027}\u{202F}'<>&"
    #expect(Array(written(text).utf8) == bytes("{\"k\":\"" + text + "\"}"))
  }

  @Test func namesAreEscapedToo() {
    var writer = JSONWriter()
    writer.add("a\"\n", true)
    #expect(writer.finished() == #"{"a\"\n":true}"#)
  }

  @Test func theReaderReadsWhatTheWriterWrote() throws {
    let scalars = (0...0x2FF).compactMap { Unicode.Scalar($0 as Int) } + ["\u{2028}", "\u{FFFD}", "\u{1F3B8}"]
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    let value = try JSONReader.read(bytes(written(text)))
    #expect(Array(try #require(value["k"]?.string).utf8) == Array(text.utf8))
  }
}
