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

  /// The text of a short HTML page: everything outside of tags, after the head.
  private static func withoutTags(_ content: [UInt8]) -> String {
    var text: [UInt8] = []
    var isInTag = false
    var tag: [UInt8] = []
    for byte in content {
      switch (isInTag, byte) {
      case (false, UInt8(ascii: "<")):
        isInTag = true
        tag = []
      case (true, UInt8(ascii: ">")):
        isInTag = false
        if ASCII.equalsIgnoringCase(tag, "/head".utf8) { text = [] }
        text.append(ASCII.space)
      case (true, _): if tag.count < 8 { tag.append(byte) }
      case (false, _): text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
