/// Writes one JSON object on one line (RFC 8259). Its functions are not inlined, because each object calls many of them.
package struct JSONWriter {
  package private(set) var text = "{"

  package init() {}

  package consuming func finished() -> String { text + "}" }

  @inline(never)
  package mutating func add(_ name: String, _ value: String) {
    addName(name)
    JSONWriter.append(value, to: &text)
  }

  @inline(never)
  package mutating func add(_ name: String, _ value: Int64) {
    addName(name)
    text += String(value)
  }

  package mutating func add(_ name: String, _ value: Bool) {
    addName(name)
    text += value ? "true" : "false"
  }

  /// A number of seconds with three decimals.
  package mutating func add(_ name: String, milliseconds: Int64) {
    addName(name)
    text += String(milliseconds / 1000) + "." + ASCII.digits(milliseconds % 1000, 3)
  }

  @inline(never)
  package mutating func addNull(_ name: String) {
    addName(name)
    text += "null"
  }

  package mutating func add(_ name: String, _ object: consuming JSONWriter) {
    addName(name)
    text += object.finished()
  }

  @inline(never)
  package mutating func add(_ name: String, _ objects: [JSONWriter]) {
    addName(name)
    text += "[" + objects.map { $0.finished() }.joined(separator: ",") + "]"
  }

  @inline(never)
  package mutating func add(_ name: String, _ values: [String]) {
    addName(name)
    text += "["
    for (index, value) in values.enumerated() {
      if index > 0 { text += "," }
      JSONWriter.append(value, to: &text)
    }
    text += "]"
  }

  /// A time (RFC 3339).
  /// - Parameter unixMilliseconds: since 1970.
  package mutating func add(_ name: String, unixMilliseconds: Int64) {
    add(name, Timestamp.text(milliseconds: unixMilliseconds))
  }

  /// A time (RFC 3339).
  /// - Parameters:
  ///   - unixSeconds: since 1970.
  ///   - nanoseconds: later than that.
  package mutating func add(_ name: String, unixSeconds: Int64, nanoseconds: Int64 = 0) {
    add(name, Timestamp.text(seconds: unixSeconds, nanoseconds: nanoseconds))
  }

  /// A path as text, with "�" for bytes that are not UTF-8; if there are any, also in its exact form.
  /// - Parameter name: of the member.
  package mutating func add(file: LocalPath, as name: String = "file") {
    add(name, String(decoding: file.bytes, as: UTF8.self))
    if !file.isUTF8 { add(name + "_percent", Percent.encode(file.bytes)) }
  }

  /// A response of the server. It has been redacted.
  package mutating func add(answer: RedactedAnswer) {
    var object = JSONWriter()
    object.add("status", Int64(answer.status))
    if let location = answer.location { object.add("location", location) }
    object.add("body", answer.body)
    if answer.isBodyTruncated { object.add("body_truncated", true) }
    if answer.software != .unknown { object.add("author", answer.software.rawValue) }
    add("answer", object)
  }

  /// A parsed value. Numbers keep their spelling.
  package mutating func add(_ name: String, _ value: JSONValue) {
    addName(name)
    JSONWriter.append(value, to: &text)
  }

  private static func append(_ value: JSONValue, to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let value): append(value, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        append(element, to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        append(member.name, to: &text)
        text += ":"
        append(member.value, to: &text)
      }
      text += "}"
    }
  }

  @inline(never)
  private mutating func addName(_ name: String) {
    if text != "{" { text += "," }
    JSONWriter.append(name, to: &text)
    text += ":"
  }

  /// Appends the string in quotes. Control characters, including those above ASCII and bidirectional marks, are escaped.
  private static func append(_ value: String, to result: inout String) {
    result += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where !PrintableText.isHarmless(scalar):
        // None of these is above U+FFFF.
        var digits: [UInt8] = []
        ASCII.appendHex([UInt8(scalar.value >> 8), UInt8(scalar.value & 255)], to: &digits)
        result += "\\u" + String(decoding: digits, as: UTF8.self)
      default: result.unicodeScalars.append(scalar)
      }
    }
    result += "\""
  }
}
