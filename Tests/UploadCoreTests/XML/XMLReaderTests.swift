import Testing
import UploadCore

struct XMLReaderTests {
  private func events(_ text: String) throws -> [XMLReader.Event] { try events(Array(text.utf8)) }

  private func events(_ bytes: [UInt8]) throws -> [XMLReader.Event] {
    var reader = XMLReader(bytes)
    var events: [XMLReader.Event] = []
    while let event = try reader.next() { events.append(event) }
    return events
  }

  private func text(_ text: String) -> XMLReader.Event { .text(Array(text.utf8)) }

  @Test func aListOfPartsIsReadInOrder() throws {
    let list = """
      <?xml version="1.0" encoding="UTF-8"?>
      <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <!-- <Part> --><IsTruncated>false</IsTruncated>
        <Part><PartNumber>1</PartNumber><ETag>&quot;a&amp;b&#x22;&#34;</ETag></Part>
        <Owner/><s3:Note a = 'x>' ><![CDATA[<raw> & ]]>more</s3:Note >
      </ListPartsResult>

      """
    #expect(
      try events(list) == [
        .start("ListPartsResult"), .start("IsTruncated"), text("false"), .end("IsTruncated"), .start("Part"),
        .start("PartNumber"), text("1"), .end("PartNumber"), .start("ETag"), text("\"a&b\"\""), .end("ETag"),
        .end("Part"),
        .start("Owner"), .end("Owner"), .start("Note"), text("<raw> & more"), .end("Note"), .end("ListPartsResult"),
      ])
  }

  @Test(arguments: [
    "", " ", "text", "<a>", "<a></b>", "<a></a", "</a>", "<a/><b/>", "<a/>text", "text<a/>", "<a b></a>", "<a b=c/>",
    "<a b=\"<\"/>", "<a b=\"", "<a>&nbsp;</a>", "<a>&lt</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#+5;</a>",
    "<a>&#;</a>",
    "<1/>", "< a/>", "<-a/>", "<a><!-- </a>", "<a><![CDATA[ </a>", "<a><? </a>", "<", "<a", "<a b=\"\"c=\"\"/>",
    "<a / >",
  ])
  func malformedXMLIsRefused(text: String) {
    #expect(throws: XMLError.self) { try events(text) }
  }

  @Test func nestingAndDocumentTypesAreLimited() throws {
    let depth = Limits.xmlDepth
    func nested(_ count: Int) -> String {
      String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
    }
    #expect(try events(nested(depth)).count == 2 * depth)
    #expect(throws: XMLError.tooDeep(limit: depth)) { try events(nested(depth + 1)) }
    #expect(throws: XMLError.documentType) { try events("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>") }
    let name = String(repeating: "n", count: Limits.xmlNameLength)
    #expect(try events("<\(name)/>").count == 2)
    #expect(throws: XMLError.self) { try events("<\(name)n/>") }
  }

  /// Nothing traps, and nothing but the whole is the whole.
  @Test func anythingThatIsCutOffIsRefused() throws {
    let whole = Array("\u{FEFF}<a x='1'><b>&lt;<![CDATA[x]]></b><!-- c --><?d?></a>".utf8)
    let count = try events(whole).count
    #expect(count == 5)
    for length in 0..<whole.count {
      #expect(throws: XMLError.self) { try events(Array(whole[..<length])) }
    }
    for index in whole.indices {
      for byte: UInt8 in [0, 0x20, 0x26, 0x2F, 0x3C, 0x3E, 0xFF] {
        var changed = whole
        changed[index] = byte
        _ = try? events(changed)
      }
    }
  }
}
