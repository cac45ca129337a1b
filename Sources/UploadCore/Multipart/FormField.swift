/// A text field of a form.
public struct FormField: Equatable, Sendable {
  /// The name of the field.
  public let name: String
  /// The value as sent: UTF-8, unless the caller gave other bytes.
  public let bytes: [UInt8]

  /// A field with a text value.
  public init(_ name: String, _ value: String) { self.init(name, bytes: Array(value.utf8)) }

  /// A field whose value need not be UTF-8, such as a file name.
  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The value as text.
  public var value: String { String(decoding: bytes, as: UTF8.self) }
}
