/// The file of an upload.
package struct RecordedFile: Equatable, Sendable {
  /// Absolute.
  package var path: LocalPath
  package var identity: FileIdentity
  /// The ID of its file system; nil if it has none.
  package var fileSystemID: UInt64?
  /// Its sidecar file, when that was read to describe it; nil if none was.
  package var sidecar: FileSighting?

  package init(path: LocalPath, identity: FileIdentity, fileSystemID: UInt64? = nil, sidecar: FileSighting? = nil) {
    self.path = path
    self.identity = identity
    self.fileSystemID = fileSystemID
    self.sidecar = sidecar
  }

  /// Whether it is the same file on the disk, and nothing has touched it. Where inodes are not stable, only the modification time tells.
  /// - Parameters:
  ///   - changed: its status time now.
  ///   - proven: that of the previous file, when its content was last known; nil if it can prove nothing.
  package func isUntouched(_ changed: StatusTime, since previous: RecordedFile, _ proven: StatusTime?) -> Bool {
    guard identity.hasStableInode, previous.identity.hasStableInode else {
      return identity.change(since: previous.identity) == nil
    }
    return !isReplaced(since: previous) && changed == proven
  }

  /// Whether it is another file on the disk. A device number can be another one when the file system is mounted again.
  func isReplaced(since previous: RecordedFile) -> Bool {
    if let id = fileSystemID, let other = previous.fileSystemID, id != other { return true }
    return identity.inode != previous.identity.inode
  }
}
