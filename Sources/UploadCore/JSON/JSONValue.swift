/// A JSON value (RFC 8259). Numbers keep their spelling, because identifiers can exceed the precision of a Double.
package indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue
  }

  /// The member of an object with this name. If a name is repeated, the last one counts, as in most parsers.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name == name }?.value
  }

  /// The members of an object, in order; empty for other values.
  package var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }

  /// The elements of an array; empty for other values.
  package var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// An integer, even if it is written as a string of digits, as PHP often does.
  package var integer: Int64? {
    switch self {
    case .number(let text), .string(let text): Int64(text)
    default: nil
    }
  }
}
