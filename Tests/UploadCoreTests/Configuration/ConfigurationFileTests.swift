import Testing
import UploadCore

struct ConfigurationFileTests {
  /// Each entry as "section|name|value|line".
  private func entries(_ content: [UInt8]) throws -> [String] {
    let file = try ConfigurationFile(parsing: content)
    return file.entries.map {
      let section = $0.section.map { file.sections[$0].name ?? "(watch)" } ?? ""
      let texts = [$0.name, $0.value].map { String(decoding: $0, as: UTF8.self) }
      return section + "|" + texts[0] + "|" + texts[1] + "|" + String($0.line)
    }
  }

  private func failure(_ content: [UInt8]) -> ConfigurationError? {
    do throws(ConfigurationError) { _ = try ConfigurationFile(parsing: content) } catch { return error }
    return nil
  }

  private let sample =
    "# top\n\nserver = https://hive\n\t label=a = b # c \n[venue]\n field = x=1\nfield=x=2\n[ b.2_-]\nproxy =\n"

  @Test func entriesHaveTheirSectionAndLine() throws {
    let expected = [
      "|server|https://hive|3", "|label|a = b # c|4", "venue|field|x=1|6", "venue|field|x=2|7", "b.2_-|proxy||9",
    ]
    #expect(try entries(bytes(sample)) == expected)
  }

  @Test func linesMayEndWithCRLFAndTheFileMayBeginWithAByteOrderMark() throws {
    let file = bytes("server = a\r\n\r\n[b]\r\nlabel = c\r\n")
    #expect(try entries([0xEF, 0xBB, 0xBF] + file) == ["|server|a|1", "b|label|c|4"])
  }

  @Test func anEmptyFileHasNoEntries() throws {
    for text in ["", "\n", "# x", " \t", "\r\n"] { #expect(try entries(bytes(text)) == []) }
  }

  @Test func aValueKeepsItsBytes() throws {
    let file = try ConfigurationFile(parsing: bytes("cacert = /x") + [0xE4, 0xFF])
    #expect(file.entries.first?.value == bytes("/x") + [0xE4, 0xFF])
  }

  @Test func watchedDirectoriesHaveSections() throws {
    let file = try ConfigurationFile(parsing: bytes("[watch /srv/my rec]\na = b\n[watch]\n[ watch\t/\u{e4} ]\nc = d"))
    #expect(file.sections == [.watch(bytes("/srv/my rec")), .named("watch"), .watch(bytes("/\u{e4}"))])
    #expect(file.entries.map { $0.section } == [0, 2])
    #expect(failure(bytes("[watch /a]\n[watch /a]"))?.reason == .repeatedSection("watch /a"))
    #expect(failure(bytes("[watch /a]\n[watch /a//]"))?.reason == .repeatedSection("watch /a"))
    #expect(try ConfigurationFile(parsing: bytes("[watch /]")).sections == [.watch(bytes("/"))])
  }

  @Test func anErrorNamesItsLine() {
    let cases: [(String, ConfigurationError.Reason)] = [
      ("server", .noValue), ("= x", .noName), ("[venue", .unclosedSection),
      ("[]", .sectionName([])), ("[a b]", .sectionName(bytes("a b"))), ("[watch srv]", .watchSection),
      ("a = \0", .controlCharacter), ("a = \u{1B}[0m", .controlCharacter), ("a = \rb", .controlCharacter),
      ("# \u{7F}", .controlCharacter), ("[x]\n[x]", .repeatedSection("x")),
    ]
    for (text, reason) in cases {
      let error = failure(bytes("\n" + text))
      #expect(error?.reason == reason)
      #expect(error?.line == (text == "[x]\n[x]" ? 3 : 2))
    }
  }

  @Test func everyLimitHolds() {
    let line = Limits.configurationLineLength
    #expect(failure(bytes("a=" + String(repeating: "x", count: line - 2))) == nil)
    #expect(failure(bytes("a=" + String(repeating: "x", count: line - 1)))?.reason == .lineTooLong(limit: line))
    let count = Limits.configurationLineCount
    #expect(failure(Array(repeating: ASCII.lineFeed, count: count)) == nil)
    #expect(failure(Array(repeating: ASCII.lineFeed, count: count + 1))?.reason == .tooManyLines(limit: count))
    let length = Limits.configurationLength
    #expect(failure(Array(repeating: ASCII.space, count: length + 1))?.reason == .fileTooLong(limit: length))
  }

  @Test func aTruncatedFileHasTheFirstEntriesOrAnErrorInItsLastLine() throws {
    let whole = bytes(sample)
    let all = try ConfigurationFile(parsing: whole).entries
    for length in 0...whole.count {
      let part = Array(whole[..<length])
      let lineCount = part.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).count
      if let error = failure(part) {
        #expect(error.line == lineCount)
      } else {
        let entries = try ConfigurationFile(parsing: part).entries
        let complete = entries.filter { $0.line < lineCount }
        #expect(complete == Array(all.prefix(complete.count)))
        #expect(entries.count - complete.count <= 1)
      }
    }
  }
}
