import UploadCore

/// What an upload would do.
package struct UploadPreview {
  /// In bytes.
  package let size: Int64
  /// Whether the recording would be sent over tus, if the server supports it.
  package let usesTus: Bool
  /// The ID of the upload that would be resumed; nil for a new one.
  package let recordID: String?
}
