import Testing
import UploadCore

/// The scalars of a text, because String's == treats different encodings of a character as equal.
private func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

struct PrintableTextTests {
  @Test func harmlessTextStaysAsItIs() {
    let text = "Größe 音楽 🎸 – \"ok\" <b>\\n"
    #expect(scalars(PrintableText.line(text)) == scalars(text))
  }

  @Test func spacesAndLineEndsBecomeOneSpaceAndNoneAtTheEnds() {
    #expect(PrintableText.line("\r\n  one \t\n two\r\n\r\nthree \n") == "one two three")
    #expect(PrintableText.line(" \n\t ") == "")
    #expect(PrintableText.line("") == "")
  }

  @Test func controlSequencesAreRemoved() {
    let ordered = [
      "\u{0}", "\u{7}", "\u{8}", "\u{B}", "\u{1B}", "\u{1F}", "\u{7F}", "\u{80}", "\u{85}", "\u{9B}", "\u{9F}",
    ]
    for control in ordered {
      #expect(scalars(PrintableText.line("a" + control + "b")) == ["a", "\u{FFFD}", "b"])
    }
    #expect(PrintableText.line("\u{1B}]0;owned\u{7}\u{1B}[2J") == "\u{FFFD}]0;owned\u{FFFD}\u{FFFD}[2J")
  }

  /// The code points with the Unicode property Bidi_Control, and the two separators.
  @Test(
    arguments: [
      0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x2028, 0x2029,
    ] as [UInt32])
  func marksThatTurnTheDirectionOfWritingAreReplaced(value: UInt32) throws {
    let mark = try #require(Unicode.Scalar(value))
    #expect(scalars(PrintableText.line("a\(mark)b")) == ["a", "\u{FFFD}", "b"])
  }

  @Test func theNeighboursOfWhatIsReplacedStay() {
    let text = "\u{A0}\u{200D}\u{2027}\u{202F}\u{2065}\u{206A}"
    #expect(scalars(PrintableText.line(text)) == scalars(text))
  }

  @Test func aTextAtTheLimitIsWholeAndALongerOneEndsInDots() {
    #expect(PrintableText.line("abcd", limit: 4) == "abcd")
    #expect(PrintableText.line("abcde", limit: 4) == "abcd…")
    #expect(PrintableText.line("abcd  ", limit: 4) == "abcd")
  }

  @Test func aSpaceBeforeTheLimitCountsAsACharacter() {
    let line = PrintableText.line("abc def", limit: 4)
    #expect(line.hasSuffix("…"))
    #expect(line.unicodeScalars.count <= 4 + 1)
  }

  @Test func serversAreQuotedUpToTheLimit() {
    let limit = Limits.quotedMessageLength
    #expect(PrintableText.line(filler(limit)) == filler(limit))
    #expect(PrintableText.line(filler(limit + 1)) == filler(limit) + "…")
  }

  @Test(arguments: [
    ("https://hive/a?key=1", "https://hive/a?…"), ("https://ann:hush@hive/a", "https://…@hive/a"),
    ("//ann@hive", "//…@hive"), ("https://a@b@hive/c@d?e", "https://…@hive/c@d?…"), ("/a@b", "/a@b"), ("a//b", "a//b"),
    ("https://hive/c@d", "https://hive/c@d"), ("", ""), ("//", "//"), ("//@", "//…@"),
  ])
  func aURIIsShownWithoutItsSecrets(uri: String, text: String) { #expect(PrintableText.withoutSecrets(uri) == text) }
}
