/// A file system, such as that of a stick.
package struct FileSystem: Equatable, Sendable {
  /// The device number. It can change when the file system is mounted again, and be that of the next stick.
  package let device: UInt64
  /// The file system's own ID; nil if it has none.
  package let id: UInt64?

  package init(device: UInt64, id: UInt64?) {
    self.device = device
    self.id = id
  }

  /// Whether it is the same one, as far as both are known.
  package func isSame(as other: FileSystem) -> Bool {
    guard let id, let otherID = other.id else { return device == other.device }
    return id == otherID
  }
}
