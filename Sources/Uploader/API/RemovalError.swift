import UploadCore

/// Why an upload was not ended, or a recording not deleted.
package struct RemovalError: Error {
  package let error: UploadError
  /// Can the server have done it all the same?
  package let mayBeDone: Bool
}
