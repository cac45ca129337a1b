/// The file of an upload.
package struct RecordedFile: Equatable, Sendable {
  /// The absolute path, as bytes.
  package var path: [UInt8]
  package var identity: FileIdentity
  /// The ID of its file system; nil if it has none.
  package var fileSystemID: UInt64?

  package init(path: [UInt8], identity: FileIdentity, fileSystemID: UInt64? = nil) {
    self.path = path
    self.identity = identity
    self.fileSystemID = fileSystemID
  }
}
