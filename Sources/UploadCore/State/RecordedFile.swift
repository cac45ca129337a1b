/// The file of an upload.
package struct RecordedFile: Equatable, Sendable {
  /// Absolute.
  package var path: LocalPath
  package var identity: FileIdentity
  /// The ID of its file system; nil if it has none.
  package var fileSystemID: UInt64?

  package init(path: LocalPath, identity: FileIdentity, fileSystemID: UInt64? = nil) {
    self.path = path
    self.identity = identity
    self.fileSystemID = fileSystemID
  }
}
