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
}
