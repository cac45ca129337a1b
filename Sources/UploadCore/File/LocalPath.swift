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

extension LocalPath {
  /// The name of the directory that the file is in, empty for the root; nil if only the working directory tells it.
  package var directoryName: ArraySlice<UInt8>? {
    var parentCount = 0
    for part in bytes.split(separator: ASCII.slash).dropLast().reversed() where !part.elementsEqual(".".utf8) {
      if part.elementsEqual("..".utf8) {
        parentCount += 1
      } else if parentCount > 0 {
        parentCount -= 1
      } else {
        return part
      }
    }
    return bytes.first == ASCII.slash ? [] : nil
  }

  /// The same directory, as it is compared with others.
  package var withoutFinalSlashes: LocalPath {
    var bytes = bytes
    while bytes.count > 1, bytes.last == ASCII.slash { bytes.removeLast() }
    return LocalPath(bytes: bytes)
  }

  /// The name in its directory: what follows the last slash.
  package var name: LocalPath { LocalPath(bytes: Array(lastComponentBytes)) }

  /// What follows the path of a directory; nil if it is not below it.
  package func relative(to directory: LocalPath) -> LocalPath? {
    guard directory.contains(bytes) else { return nil }
    let rest = bytes[directory.bytes.count...].drop { $0 == ASCII.slash }
    return rest.isEmpty ? nil : LocalPath(bytes: Array(rest))
  }

  /// The file that describes this one.
  package var sidecar: LocalPath { LocalPath(bytes: bytes + FileSelection.sidecarEnding.utf8) }

  package func inDirectory(_ name: String) -> LocalPath { directory.appendingName(Array(name.utf8)) }

  package func appendingName(_ name: [UInt8]) -> LocalPath {
    LocalPath(bytes: bytes + (bytes.last == ASCII.slash ? [] : [ASCII.slash]) + name)
  }

  /// The path with a number before the extension: `/rec/gig.1.mp4`. 0 adds none.
  package func numbered(_ number: Int) -> LocalPath {
    guard number > 0 else { return self }
    let name = lastComponentBytes
    // A leading dot does not start an extension.
    let dot = name.dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
    return LocalPath(bytes: bytes[..<dot] + Array(("." + String(number)).utf8) + bytes[dot...])
  }
}
