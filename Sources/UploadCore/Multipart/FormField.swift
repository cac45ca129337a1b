/// A text field of a form.
public struct FormField: Equatable, Sendable {
  /// The form's name for it.
  public let name: String
  /// What it says, as it goes on the wire: UTF-8, unless the caller has it otherwise.
  public let bytes: [UInt8]

  /// A field of this name and value.
  public init(_ name: String, _ value: String) { self.init(name, bytes: Array(value.utf8)) }

  /// A field of this name, and a value that need not be UTF-8, such as the name of a file.
  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// What it says, as text.
  public var value: String { String(decoding: bytes, as: UTF8.self) }
}
