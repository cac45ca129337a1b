/// Why a text is not XML, or not what is read here.
package enum XMLError: Error, Equatable {
  /// The byte at `offset` is unexpected, or the text ends there.
  case unexpected(offset: Int)
  case tooDeep(limit: Int)
  /// It has a document type, which could define entities.
  case documentType
}

/// Reads the elements of an XML document one after the other (XML 1.0), as servers of objects and files write them. Names lose their
/// prefixes; attributes, comments and processing instructions are passed. There is no other memory than the names of the open elements.
package struct XMLReader {
  package enum Event: Equatable, Sendable {
    case start(String)
    /// The text up to the next tag, without entities. It is left out if it is only white space.
    case text([UInt8])
    case end(String)
  }

  private let bytes: [UInt8]
  private var offset = 0
  private var open: [[UInt8]] = []
  private var hasRoot = false
  /// The end of an element without content, which has been begun.
  private var isEmptyElement = false

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // The byte order mark of UTF-8.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  /// nil at the end of the document.
  package mutating func next() throws(XMLError) -> Event? {
    if isEmptyElement {
      isEmptyElement = false
      return .end(XMLReader.local(open.removeLast()))
    }
    var text: [UInt8] = []
    while offset < bytes.count {
      if bytes[offset] != UInt8(ascii: "<") {
        text += try readText()
        continue
      }
      if try passMarkup() { continue }
      if takes("<![CDATA[") {
        let close = try end(of: "]]>")
        text += bytes[offset..<close]
        offset = close + 3
        continue
      }
      if let event = try event(for: text) { return event }
      return bytes[offset + 1] == ASCII.slash ? try readEnd() : try readStart()
    }
    guard open.isEmpty, hasRoot, try event(for: text) == nil else { throw .unexpected(offset: offset) }
    return nil
  }

  /// - Returns: nil for white space.
  private func event(for text: [UInt8]) throws(XMLError) -> Event? {
    if text.allSatisfy(XMLReader.isSpace) { return nil }
    guard !open.isEmpty else { throw .unexpected(offset: offset) }
    return .text(text)
  }

  // MARK: Markup

  /// - Returns: whether there was a comment, a processing instruction or a declaration.
  private mutating func passMarkup() throws(XMLError) -> Bool {
    if takes("<!--") {
      offset = try end(of: "-->") + 3
      return true
    }
    if takes("<?") {
      offset = try end(of: "?>") + 2
      return true
    }
    if bytes[offset...].starts(with: "<!DOCTYPE".utf8) { throw .documentType }
    guard offset + 1 < bytes.count else { throw .unexpected(offset: bytes.count) }
    return false
  }

  private mutating func readStart() throws(XMLError) -> Event {
    guard !hasRoot || !open.isEmpty else { throw .unexpected(offset: offset) }
    guard open.count < Limits.xmlDepth else { throw .tooDeep(limit: Limits.xmlDepth) }
    offset += 1
    let name = try readName()
    try passAttributes()
    if take(ASCII.slash) { isEmptyElement = true }
    guard take(UInt8(ascii: ">")) else { throw .unexpected(offset: offset) }
    open.append(name)
    hasRoot = true
    return .start(XMLReader.local(name))
  }

  private mutating func readEnd() throws(XMLError) -> Event {
    offset += 2
    let start = offset
    let name = try readName()
    guard open.last == name else { throw .unexpected(offset: start) }
    skipSpace()
    guard take(UInt8(ascii: ">")) else { throw .unexpected(offset: offset) }
    return .end(XMLReader.local(open.removeLast()))
  }

  private mutating func passAttributes() throws(XMLError) {
    while true {
      let start = offset
      skipSpace()
      guard offset < bytes.count else { throw .unexpected(offset: offset) }
      if bytes[offset] == ASCII.slash || bytes[offset] == UInt8(ascii: ">") { return }
      guard offset > start else { throw .unexpected(offset: offset) }
      _ = try readName()
      skipSpace()
      guard take(UInt8(ascii: "=")) else { throw .unexpected(offset: offset) }
      skipSpace()
      guard offset < bytes.count, bytes[offset] == ASCII.quote || bytes[offset] == UInt8(ascii: "'") else {
        throw .unexpected(offset: offset)
      }
      let quote = bytes[offset]
      guard let close = bytes[(offset + 1)...].firstIndex(of: quote) else { throw .unexpected(offset: bytes.count) }
      if let stray = bytes[offset..<close].firstIndex(of: UInt8(ascii: "<")) { throw .unexpected(offset: stray) }
      offset = close + 1
    }
  }

  private mutating func readName() throws(XMLError) -> [UInt8] {
    let name = bytes[offset...].prefix {
      ASCII.isLetter($0) || ASCII.isDigit($0) || $0 >= 0x80 || "_:-.".utf8.contains($0)
    }
    for part in name.split(separator: ASCII.colon, omittingEmptySubsequences: false) {
      guard let first = part.first, !ASCII.isDigit(first), first != ASCII.hyphen, first != UInt8(ascii: ".") else {
        throw .unexpected(offset: part.startIndex)
      }
    }
    guard name.count <= Limits.xmlNameLength, String(validating: name, as: UTF8.self) != nil else {
      throw .unexpected(offset: offset)
    }
    offset = name.endIndex
    return Array(name)
  }

  /// Without its prefix.
  private static func local(_ name: [UInt8]) -> String {
    let colon = name.lastIndex(of: ASCII.colon)
    return String(decoding: colon.map { name[($0 + 1)...] } ?? name[...], as: UTF8.self)
  }

  // MARK: Text

  /// Up to the next tag.
  private mutating func readText() throws(XMLError) -> [UInt8] {
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") {
      if bytes[offset] == UInt8(ascii: "&") {
        text += try readReference()
      } else {
        text.append(bytes[offset])
        offset += 1
      }
    }
    return text
  }

  private mutating func readReference() throws(XMLError) -> [UInt8] {
    let start = offset
    guard let end = bytes[start...].prefix(Limits.xmlReferenceLength).firstIndex(of: ASCII.semicolon) else {
      throw .unexpected(offset: start)
    }
    let name = bytes[(start + 1)..<end]
    offset = end + 1
    switch String(decoding: name, as: UTF8.self) {
    case "lt": return [UInt8(ascii: "<")]
    case "gt": return [UInt8(ascii: ">")]
    case "amp": return [UInt8(ascii: "&")]
    case "quot": return [ASCII.quote]
    case "apos": return [UInt8(ascii: "'")]
    default: break
    }
    guard name.first == ASCII.numberSign else { throw .unexpected(offset: start) }
    let isHex = name.dropFirst().first == UInt8(ascii: "x")
    let digits = String(decoding: name.dropFirst(isHex ? 2 : 1), as: UTF8.self)
    guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != ASCII.hyphen,
      let number = UInt32(digits, radix: isHex ? 16 : 10), number != 0, let scalar = Unicode.Scalar(number)
    else { throw .unexpected(offset: start) }
    return Array(String(Character(scalar)).utf8)
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == ASCII.space || byte == ASCII.tab || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
  }

  private mutating func skipSpace() {
    while offset < bytes.count, XMLReader.isSpace(bytes[offset]) { offset += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  private mutating func takes(_ text: String) -> Bool {
    guard bytes[offset...].starts(with: text.utf8) else { return false }
    offset += text.utf8.count
    return true
  }

  /// Where a text begins from here on.
  private func end(of text: String) throws(XMLError) -> Int {
    var at = offset
    while at < bytes.count {
      if bytes[at...].starts(with: text.utf8) { return at }
      at += 1
    }
    throw .unexpected(offset: bytes.count)
  }
}

extension Limits {
  /// The depth of an XML document, the length of a name in it, and that of a reference with & and ;.
  package static let xmlDepth = 16
  package static let xmlNameLength = 256
  static let xmlReferenceLength = 12
}
