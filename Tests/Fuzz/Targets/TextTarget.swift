/// Bytes that become text, and text that becomes bytes.
enum TextTarget {
  static func run(_ input: [UInt8]) {
    let text = input.text
    checkPrintable(text, limit: Limits.quotedMessageLength)
    checkPrintable(text, limit: 1 + input.chosenPosition)
    checkWriter(text)
    checkPercent(input)
    require(decodedBase64(Base64.encode(input)) == input, "base 64 of other bytes")
    checkMetadata(input.lines(2))
    let isDecimal = !input.isEmpty && input.allSatisfy { (0x30...0x39).contains($0) }
    require(ASCII.decimal(input) == (isDecimal ? Int64(text) : nil), "another number")
    require(!Field(text, text).isSendable || !input.contains(0x0A), "a field that writes lines")
  }

  private static func checkPrintable(_ text: String, limit: Int) {
    let line = PrintableText.line(text, limit: limit)
    let scalars = Array(line.unicodeScalars)
    require(scalars.count <= limit + 1, "longer than \(limit)")
    for scalar in scalars {
      let properties = scalar.properties
      let category = properties.generalCategory
      let isHarmless = category != .control && category != .lineSeparator && category != .paragraphSeparator
      require(isHarmless && !properties.isBidiControl, "U+\(String(scalar.value, radix: 16)) passes")
    }
    require(scalars.first != " " && (scalars.last != " "), "a space at an end")
    require(PrintableText.line(line, limit: limit + 1).utf8.elementsEqual(line.utf8), "another line the second time")
  }

  private static func checkWriter(_ text: String) {
    var writer = JSONWriter()
    writer.add(text, text)
    let written = Array(writer.finished().utf8)
    require(written.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character in JSON")
    guard case .object(let members)? = try? JSONReader.read(written), let member = members.first else {
      fatalError("broken rule: wrote what is not JSON")
    }
    let isSame = member.name.utf8.elementsEqual(text.utf8) && member.value.string?.utf8.elementsEqual(text.utf8) == true
    require(members.count == 1 && isSame, "read another text than was written")
  }

  private static func checkPercent(_ input: [UInt8]) {
    let encoded = Percent.encode(input)
    require(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }, "percent-encoded in part")
    require(Percent.decode(encoded) == input, "percent-decoded other bytes")
    guard let decoded = Percent.decode(input.text) else { return }
    require(Percent.decode(Percent.encode(decoded)) == decoded, "percent-decoded other bytes the second time")
  }

  private static func checkMetadata(_ lines: [[UInt8]]) {
    let pairs = [FormField(lines[0].text, lines[1].text), FormField("filename", lines[1].text)]
    guard let metadata = try? TusFields.metadata(pairs) else { return }
    require(Field("Upload-Metadata", metadata).isSendable, "metadata that cannot be sent")
    let elements = metadata.utf8.split(separator: 0x2C)
    require(elements.count == (lines[0].text == "filename" ? 1 : 2), "metadata of other keys")
    for element in elements {
      let words = element.split(separator: 0x20)
      require((1...2).contains(words.count), "metadata that is no pair")
      let value = words.count == 2 ? decodedBase64(String(decoding: words[1], as: UTF8.self)) : []
      require(value == Array(pairs[0].value.utf8), "metadata with another value")
    }
  }

  static func show(_ input: [UInt8]) -> String { "accept " + Base64.encode(input) + " " + Percent.encode(input) }

  /// RFC 4648, 4; nil for what is not Base64.
  private static func decodedBase64(_ text: String) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var values: [UInt8: UInt32] = [:]
    for (value, digit) in digits.enumerated() { values[digit] = UInt32(value) }
    guard text.utf8.count % 4 == 0 else { return nil }
    let padding = text.utf8.reversed().prefix { $0 == 0x3D }.count
    var bits: UInt32 = 0
    var count = 0
    var bytes: [UInt8] = []
    for digit in text.utf8.dropLast(padding) {
      guard let value = values[digit] else { return nil }
      bits = (bits << 6 | value) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> UInt32(count) & 0xFF))
      }
    }
    return padding < 3 ? bytes : nil
  }
}
