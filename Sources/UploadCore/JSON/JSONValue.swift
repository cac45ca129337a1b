/// A JSON text as a tree (RFC 8259). Numbers keep their spelling, since identifiers can exceed what a Double holds.
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

  /// The member of that name of an object; the last one where a name is repeated, as most readers have it.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name == name }?.value
  }

  /// The members of an object, in their order; none of anything else.
  package var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }

  /// The elements of an array; none of anything else.
  package var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// A whole number, also one that a server wrote as a string of digits (PHP often does).
  package var integer: Int64? {
    switch self {
    case .number(let text), .string(let text): Int64(text)
    default: nil
    }
  }
}
