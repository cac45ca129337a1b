/// A JSON text. The rules of RFC 8259 themselves are in fuzz/json_rules.py, with Python's reader as the judge.
enum JSONTarget {
  static func run(_ input: [UInt8]) {
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(input) } catch {
      if case .unexpected(let offset) = error {
        require((0...input.count).contains(offset), "an error at byte \(offset) of \(input.count)")
      }
      return
    }
    require(String(validating: input, as: UTF8.self) != nil, "accepted what is not UTF-8")
    let written = rendered(value)
    guard let again = try? JSONReader.read(written) else { fatalError("broken rule: refused what it read itself") }
    require(rendered(again) == written, "read another value the second time")
    checkPrefix(input)
  }

  /// What ends early is not a whole text, unless it is a number.
  private static func checkPrefix(_ input: [UInt8]) {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    guard let first = input.first(where: { !isSpace($0) }), let last = input.lastIndex(where: { !isSpace($0) }) else {
      fatalError("broken rule: accepted nothing but white space")
    }
    guard "{[\"tfn".utf8.contains(first) else { return }
    let prefix = Array(input[..<min(input.chosenPosition, last)])
    require((try? JSONReader.read(prefix)) == nil, "accepted the first \(prefix.count) bytes alone, too")
  }

  static func show(_ input: [UInt8]) -> String {
    do throws(JSONError) { return "accept " + rendered(try JSONReader.read(input)).text } catch {
      switch error {
      case .unexpected(let offset): return "refuse \(offset)"
      case .tooDeep: return "too deep"
      }
    }
  }

  // MARK: JSON on one line, in ASCII

  private static func rendered(_ value: JSONValue) -> [UInt8] {
    switch value {
    case .null: Array("null".utf8)
    case .bool(let flag): Array((flag ? "true" : "false").utf8)
    case .number(let text): Array(text.utf8)
    case .string(let text): rendered(text)
    case .array(let elements): [0x5B] + joined(elements.map(rendered)) + [0x5D]
    case .object(let members):
      [0x7B] + joined(members.map { rendered($0.name) + [0x3A] + rendered($0.value) }) + [0x7D]
    }
  }

  private static func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined(separator: [0x2C])) }

  private static func rendered(_ text: String) -> [UInt8] {
    var result: [UInt8] = [0x22]
    for unit in text.utf16 {
      if unit >= 0x20, unit < 0x7F, unit != 0x22, unit != 0x5C {
        result.append(UInt8(unit))
      } else {
        let digits = String(unit, radix: 16)
        result += Array(("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8)
      }
    }
    return result + [0x22]
  }
}
