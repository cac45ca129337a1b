import Testing

@testable import UploadCore

struct HeaderFileTests {
  private func names(_ text: String) throws(HeaderFileError) -> [String] {
    try HeaderFile.fields(in: Array(text.utf8)).map { $0.name + "=" + $0.value }
  }

  @Test func eachLineIsAField() throws {
    #expect(
      try names("CF-Access-Client-Id: a\nCF-Access-Client-Secret: b\n") == [
        "CF-Access-Client-Id=a", "CF-Access-Client-Secret=b",
      ])
    #expect(try names("apikey: a\r\nCookie: b=c; d=e") == ["apikey=a", "Cookie=b=c; d=e"])
  }

  @Test func commentsAndEmptyLinesAreSkipped() throws {
    #expect(try names("# Cloudflare\n\n  \t\n\r\napikey: a # not a comment\n#") == ["apikey=a # not a comment"])
    #expect(try names("") == [])
  }

  @Test(arguments: [
    ("apikey: a\nsecret\n", 2, CustomFieldError.noColon), (" # no comment", 1, .noColon),
    ("\n\nHost: a", 3, .reserved(name: "Host")), ("A: b\rC: d\n", 1, .invalidValue(name: "A")),
    ("A: b\n C: continued", 2, .invalidName), ("A: \0", 1, .invalidValue(name: "A")),
  ])
  func aLineThatIsNoFieldIsNamed(text: String, line: Int, reason: CustomFieldError) {
    #expect(throws: HeaderFileError(line: line, reason: reason)) { try names(text) }
  }

  /// A file that is still being written gives fewer fields, or a shorter last one, and nothing else.
  @Test func everyBeginningOfAFileIsRefusedOrHasTheFirstFields() {
    let text = Array("A: one\n# two\nB: three\n".utf8)
    for length in 0...text.count {
      guard let fields = try? HeaderFile.fields(in: Array(text.prefix(length))) else { continue }
      #expect(fields.count <= 2)
      for (field, whole) in zip(fields, [("A", "one"), ("B", "three")]) {
        #expect(field.name == whole.0 && whole.1.hasPrefix(field.value))
      }
    }
  }
}
