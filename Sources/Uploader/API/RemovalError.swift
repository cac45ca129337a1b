import UploadCore

/// Why an upload was not cancelled, or a recording not deleted.
package struct RemovalError: Error {
  package let error: UploadError
  /// Whether the server may have done it anyway.
  package let mayBeDone: Bool
}
