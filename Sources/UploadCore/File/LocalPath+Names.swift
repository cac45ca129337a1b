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

  /// Another name in the same directory.
  package func inDirectory(_ name: String) -> LocalPath { directory.appendingName(Array(name.utf8)) }

  /// A name in this directory.
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
