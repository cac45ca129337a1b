import UploadCore

/// Why an upload was not cancelled, or a recording not deleted.
package struct CancelDeleteError: Error {
  package let error: UploadError
  /// The server's response that led to it; nil if there was none.
  package let answer: RedactedAnswer?
  /// Whether the server may have done it anyway.
  package let mayBeDone: Bool
}
