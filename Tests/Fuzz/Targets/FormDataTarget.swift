/// A form: a field's name, its value, a file's name and its media type, one per line.
enum FormDataTarget {
  private static let boundary = Boundary(random: Array(0...15))

  static func run(_ input: [UInt8]) {
    let lines = input.lines(4)
    let texts = lines.map(text)
    let fields = [FormField(texts[0], texts[1]), FormField("label", texts[1])]
    let file = FilePart(name: texts[0], fileName: texts[2], mediaType: texts[3])
    guard let body = try? FormData.body(fields: fields, file: file, fileLength: 3, boundary: boundary) else { return }
    require(body.header.count <= Limits.formLength, "longer than the limit")
    check(body.header, fields, file)
    require(body.length == Int64(body.header.count + 3 + body.footer.count), "another length than it says")
    checkWriting(body, step: max(1, input.chosenPosition))
  }

  /// A line's text, with a line feed for each `\n`.
  private static func text(_ line: [UInt8]) -> String {
    var text: [UInt8] = []
    for byte in line {
      if byte == UInt8(ascii: "n"), text.last == 0x5C {
        text[text.count - 1] = 0x0A
      } else {
        text.append(byte)
      }
    }
    return text.text
  }

  /// Takes the header apart again.
  private static func check(_ header: [UInt8], _ fields: [FormField], _ file: FilePart) {
    var rest = header[...]
    for field in fields {
      require(takeLine(&rest) == Array(("--" + boundary.text).utf8), "no boundary")
      checkDisposition(takeLine(&rest), [("name", field.name)])
      require(takeLine(&rest).isEmpty, "no end of the part's head")
      require(rest.starts(with: field.value.utf8), "another value")
      rest = rest.dropFirst(field.value.utf8.count)
      require(takeLine(&rest).isEmpty, "no line end after the value")
    }
    require(takeLine(&rest) == Array(("--" + boundary.text).utf8), "no boundary before the file")
    let fileName = String(decoding: file.fileName, as: UTF8.self)
    checkDisposition(takeLine(&rest), [("name", file.name), ("filename", fileName)])
    require(takeLine(&rest) == Array(("Content-Type: " + file.mediaType).utf8), "another media type")
    require(takeLine(&rest).isEmpty && rest.isEmpty, "more than the file's head")
  }

  /// A line that ends in CR LF, and has neither inside.
  private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    let line = rest.prefix { $0 != 0x0D && $0 != 0x0A }
    rest = rest[line.endIndex...]
    require(rest.starts(with: [0x0D, 0x0A]), "a line that ends otherwise")
    rest = rest.dropFirst(2)
    return Array(line)
  }

  private static func checkDisposition(_ line: [UInt8], _ names: [(String, String)]) {
    var expected = Array("Content-Disposition: form-data".utf8)
    for (parameter, name) in names {
      let quoted = name.utf8.flatMap { (byte: UInt8) -> [UInt8] in
        switch byte {
        case 0x0D: Array("%0D".utf8)
        case 0x0A: Array("%0A".utf8)
        case 0x22: Array("%22".utf8)
        default: [byte]
        }
      }
      expected += Array("; \(parameter)=\"".utf8) + quoted + [0x22]
    }
    require(line == expected, "a name has left its quotes: \(line.text)")
    require(line.filter { $0 == 0x22 }.count == 2 * names.count, "more quotes than there are names")
  }

  /// The framing in steps of any length is the same framing.
  private static func checkWriting(_ body: RequestBody, step: Int) {
    var body = body
    var written: [UInt8] = []
    var space = [UInt8](repeating: 0, count: step)
    while body.phase != .complete {
      if case .file = body.phase {
        body.advanceFile(by: 3)
        written += [1, 2, 3]
      } else {
        let count = space.withUnsafeMutableBytes { body.writeFraming(into: $0) }
        require(count > 0, "stands still")
        written += space[..<count]
      }
    }
    require(written == body.header + [1, 2, 3] + body.footer, "other bytes in steps of \(step)")
  }
}
