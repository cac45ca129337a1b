import CShims

/// A path as the operating system takes it: bytes without a NUL, not necessarily UTF-8.
public struct FilePath: Equatable, Sendable, ExpressibleByStringLiteral {
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

  /// The path from the root on, as this process sees it now; nil if there is no working directory.
  package var absolute: FilePath? {
    if bytes.first == UInt8(ascii: "/") { return self }
    var directory = [CChar](repeating: 0, count: 4096)
    guard shim_working_directory(&directory, directory.count) == 0 else { return nil }
    return FilePath(bytes: FilePath(cString: directory).bytes + [UInt8(ascii: "/")] + bytes)
  }

  /// The path as text; bytes that are not UTF-8 are shown as "�".
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// What follows the last slash.
  package var lastComponent: String {
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    return String(decoding: bytes[start...], as: UTF8.self)
  }

  /// The path with its closing NUL, for C; nil if it has a NUL inside, which no path can have.
  package var cString: [CChar]? {
    bytes.contains(0) ? nil : bytes.map { CChar(bitPattern: $0) } + [0]
  }
}
