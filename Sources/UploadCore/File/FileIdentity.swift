/// Identifies a recording, and detects changes.
package struct FileIdentity: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  /// Bytes.
  package let size: Int64
  package let modifiedSeconds: Int64
  package let modifiedNanoseconds: Int64
  /// SHA-256 of the first and the last `Limits.edgeLength` bytes, in hexadecimal digits.
  package let edges: String

  package init(
    device: UInt64, inode: UInt64, size: Int64, modifiedSeconds: Int64, modifiedNanoseconds: Int64, edges: String
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modifiedSeconds = modifiedSeconds
    self.modifiedNanoseconds = modifiedNanoseconds
    self.edges = edges
  }

  /// Whether this is the same file on disk, whatever its name.
  package func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }

  /// How the recording differs from `previous`; nil if it is the same. Device and inode are ignored: they change when a
  /// stick is removed and inserted again.
  package func change(since previous: FileIdentity) -> FileChange? {
    if size != previous.size { return .size(from: previous.size, to: size) }
    if edges != previous.edges { return .content }
    if modifiedSeconds != previous.modifiedSeconds || modifiedNanoseconds != previous.modifiedNanoseconds {
      return .modificationTime
    }
    return nil
  }
}
