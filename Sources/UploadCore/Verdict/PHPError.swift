/// Finds the error with which PHP ended a program in its response (`display_errors`).
enum PHPError {
  /// The texts before an error's name, and that name: of PHP's pages, its log, and Xdebug's pages.
  private static let marks: [(prefix: String, name: String)] = [
    ("<b>", "fatal error</b>:"), ("<b>", "recoverable fatal error</b>:"), ("<b>", "parse error</b>:"),
    ("php ", "fatal error:"), ("php ", "parse error:"), ("</span> ", "fatal error:"), ("</span> ", "parse error:"),
  ]

  /// What ends the error's text: its line, or the stack trace of an exception.
  private static let ends = ["<br", "</th", "\nstack trace:"]

  /// Where the error's text starts; nil if there is none.
  /// - Parameter page: the start of the content, in lower case.
  static func start(in page: [UInt8]) -> Int? {
    for mark in marks {
      if let index = ASCII.index(of: mark.prefix + mark.name, in: page) { return index + mark.prefix.utf8.count }
    }
    return nil
  }

  /// The error as text, such as "Fatal error: Uncaught …", not yet redacted or made printable; nil if there is none.
  static func text(in content: [UInt8]) -> String? {
    let page = content.prefix(Limits.examinedPageLength).map { ASCII.lowercased($0) }
    guard let start = start(in: page) else { return nil }
    let end = ends.compactMap { ASCII.index(of: $0, in: page, from: start) }.min() ?? page.count
    return String(decoding: withoutEntities(withoutTags(content[start..<end])), as: UTF8.self)
  }

  /// PHP's tags mark words of the line.
  private static func withoutTags(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    var isInTag = false
    for byte in line {
      switch byte {
      case UInt8(ascii: "<"): isInTag = true
      case UInt8(ascii: ">"): isInTag = false
      default: if !isInTag { text.append(byte) }
      }
    }
    return text
  }

  private static let entities: [(name: String, character: UInt8)] = [
    ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
    ("&#039;", UInt8(ascii: "'")), ("&amp;", UInt8(ascii: "&")),
  ]

  private static func withoutEntities(_ escaped: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    var rest = escaped[...]
    while let byte = rest.first {
      let entity = byte == UInt8(ascii: "&") ? entities.first { rest.starts(with: $0.name.utf8) } : nil
      text.append(entity?.character ?? byte)
      rest = rest.dropFirst(entity?.name.utf8.count ?? 1)
    }
    return text
  }
}
