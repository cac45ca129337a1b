/// A path for the operating system: bytes without a NUL, not necessarily UTF-8.
public struct LocalPath: Equatable, Sendable, ExpressibleByStringLiteral {
  /// Without the closing NUL.
  public let bytes: [UInt8]

  /// A path in UTF-8.
  public init(_ text: String) { bytes = Array(text.utf8) }

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// A path in UTF-8.
  public init(stringLiteral text: String) { self.init(text) }

  /// - Parameter pointer: ends with a NUL.
  public init(cString pointer: UnsafePointer<CChar>) {
    var bytes: [UInt8] = []
    var at = pointer
    while at.pointee != 0 {
      bytes.append(UInt8(bitPattern: at.pointee))
      at += 1
    }
    self.bytes = bytes
  }

  /// The path as text for people. A byte that is not UTF-8 is written as `\xe9`.
  public var text: String { PrintableText.escaped(bytes) }

  /// Whether it is UTF-8, so that ``text`` is exact.
  package var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

  /// What follows the last slash.
  package var lastComponentBytes: ArraySlice<UInt8> {
    bytes[(bytes.lastIndex(of: ASCII.slash).map { $0 + 1 } ?? 0)...]
  }

  /// The directory that the file is in: "." for a name on its own.
  package var directory: LocalPath {
    guard let slash = bytes.lastIndex(of: ASCII.slash) else { return "." }
    return LocalPath(bytes: Array(bytes[..<max(slash, 1)]))
  }

  /// Whether it is this directory, or below it.
  package func contains(_ path: [UInt8]) -> Bool {
    guard path.starts(with: bytes) else { return false }
    return path.count == bytes.count || bytes.last == ASCII.slash || path[bytes.count] == ASCII.slash
  }

  /// The same as text for people.
  package var lastComponent: String { PrintableText.escaped(Array(lastComponentBytes)) }

  /// The path with a closing NUL, for C; nil if it contains a NUL, which no path can.
  package var cString: [CChar]? {
    bytes.contains(0) ? nil : bytes.map { CChar(bitPattern: $0) } + [0]
  }

  /// The same for a call that may fail: an empty name if it contains a NUL, which makes the call fail with `ENOENT`.
  package var cName: [CChar] { cString ?? [0] }
}
