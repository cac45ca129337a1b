import Testing
import UploadCore

struct GlobTests {
  private func matches(_ pattern: String, _ name: String) throws -> Bool {
    try Glob(parsing: bytes(pattern)).matches(bytes(name))
  }

  private func failure(_ pattern: [UInt8]) -> GlobError? {
    do throws(GlobError) { _ = try Glob(parsing: pattern) } catch { return error }
    return nil
  }

  @Test(arguments: [
    ("*", ""), ("*", "a.wav"), ("a", "A"), ("*.wav", "Set 1.WAV"), ("*.wav", ".wav"), ("a*b*c", "a-b-b-c"),
    ("**a**", "a"),
    ("?", "é"), ("?.wav", "💡.wav"), ("??", "aé"), ("[a-c]x", "Bx"), ("[A-C]x", "bx"), ("[!a-c]", "d"), ("[^a-c]", "d"),
    ("[]]", "]"), ("[!]]", "a"), ("[-a]", "-"), ("[a-]", "-"), ("[*]", "*"), ("[ä-ü]", "ö"), ("[é]", "é"), ("a]", "a]"),
    ("[[]", "["),
    ("set[0-9][0-9].*", "Set07.flac"), ("*[0-9]", "take 3"), ("[[-^]", "]"),
  ]) func aNameMatches(_ sample: (String, String)) throws {
    #expect(try matches(sample.0, sample.1))
  }

  @Test(arguments: [
    ("?", ""), ("?", "ab"), ("a", "ab"), ("ab", "a"), ("*.wav", "a.wave"), ("[a-c]", "d"), ("[!a-c]", "B"),
    ("[c-a]", "b"),
    ("[*]", "a"), ("É", "é"), ("a*b", "a-b-c"), ("??", "é"), ("[!a]", ""),
  ]) func anotherNameDoesNot(_ sample: (String, String)) throws {
    #expect(try !matches(sample.0, sample.1))
  }

  @Test func aByteThatIsNotUTF8IsOneCharacter() throws {
    let name = bytes("caf") + [0xE9] + bytes(".mp3")
    #expect(try Glob(parsing: bytes("caf?.mp3")).matches(name))
    #expect(try Glob(parsing: bytes("caf") + [0xE9] + bytes("*")).matches(name))
    #expect(try !Glob(parsing: bytes("café.mp3")).matches(name))
    for odd: [UInt8] in [[0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF5, 0x80, 0x80, 0x80]] {
      #expect(try Glob(parsing: bytes("*")).matches(odd))
      #expect(try Glob(parsing: odd).matches(odd))
    }
  }

  @Test func aMalformedPatternIsRefused() {
    #expect(failure([]) == .empty)
    #expect(failure(bytes("a/b")) == .slash)
    for text in ["[", "[a", "[]", "[!]", "[!", "[a-"] { #expect(failure(bytes(text)) == .unclosedSet) }
    #expect(failure(bytes("\"*.wav\"")) == .quoted)
    for text in ["*.wav,*.mp4", "*.wav, *.mp4"] { #expect(failure(bytes(text)) == .list) }
    for text in ["\"", "\"*", "*\"", "*, live.wav", "*,"] { #expect(failure(bytes(text)) == nil) }
    #expect(failure(bytes(filler(Limits.patternLength))) == nil)
    #expect(failure(bytes(filler(Limits.patternLength + 1))) == .tooLong(limit: Limits.patternLength))
  }

  /// With a matcher that goes back to every star, this would not end.
  @Test func manyStarsDoNotTakeLong() throws {
    let pattern = String(repeating: "a*", count: 100) + "b"
    #expect(try !matches(pattern, filler(255)))
    #expect(try matches(pattern, filler(254) + "b"))
  }

  @Test func itAgreesWithATextbookMatcher() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<3000 {
      let pattern = (0..<Int.random(in: 1...7, using: &generator)).map { _ in
        "ab*?".utf8.randomElement(using: &generator)!
      }
      let name = (0..<Int.random(in: 0...8, using: &generator)).map { _ in "ab".utf8.randomElement(using: &generator)! }
      #expect(try Glob(parsing: pattern).matches(name) == isMatch(pattern[...], name[...]))
    }
  }

  private func isMatch(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    if first == UInt8(ascii: "*") {
      return isMatch(pattern.dropFirst(), name) || (!name.isEmpty && isMatch(pattern, name.dropFirst()))
    }
    guard let next = name.first else { return false }
    return (first == next || first == UInt8(ascii: "?")) && isMatch(pattern.dropFirst(), name.dropFirst())
  }
}
