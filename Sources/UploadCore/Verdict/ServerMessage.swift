/// Finds the message for people in a response's content.
package enum ServerMessage {
  /// The message for people in a response's content.
  package static func text(of content: [UInt8]) -> String {
    text(of: try? JSONReader.read(content), content: content)
  }

  /// The message for people, not yet made printable: `message` and `error` of a JSON response, PHP's error, or the
  /// text of an HTML page.
  static func text(of json: JSONValue?, content: [UInt8]) -> String {
    let error = json?["error"]?.string ?? ""
    let message = json?["message"]?.string ?? ""
    if !message.isEmpty { return message }
    if !error.isEmpty { return error }
    if json != nil { return "" }
    return PHPError.text(in: content) ?? withoutTags(content)
  }

  /// The text of a short HTML page: everything outside of tags, scripts and styles, after the head.
  private static func withoutTags(_ content: [UInt8]) -> String {
    var text: [UInt8] = []
    /// The start of a tag, in lower case; nil outside of tags.
    var tag: [UInt8]?
    /// What ends the script or style.
    var end: String?
    for byte in content {
      switch (tag, byte) {
      // A script can have a "<" of its own.
      case (nil, UInt8(ascii: "<")),
        (_?, UInt8(ascii: "<")) where tag == nil || end != nil:
        tag = []
      case (let name?, UInt8(ascii: ">")):
        tag = nil
        if let awaited = end {
          if name.starts(with: awaited.utf8) { end = nil }
        } else if name == Array("/head".utf8) {
          text = []
        } else {
          end = ["script", "style"].first { name.starts(with: $0.utf8) }.map { "/" + $0 }
          text.append(ASCII.space)
        }
      case (let name?, _): if name.count < 8 { tag = name + [ASCII.lowercased(byte)] }
      case (nil, _): if end == nil { text.append(byte) }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
