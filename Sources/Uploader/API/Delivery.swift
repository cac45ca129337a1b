import UploadCore

/// A delivered upload: the receipt, and what is known about it here.
public struct Delivery: Sendable {
  /// The confirmation of the server.
  public let receipt: Receipt
  /// The file's size in bytes, and its SHA-256 in hexadecimal digits if it was computed.
  public let file: SentFile
  /// The offset at which this process resumed the upload, in bytes.
  public let resumedFrom: Int64
  /// The time from the first byte of the request to the last byte of the response.
  public let durationMilliseconds: Int64
  /// The ID of its record, if one was kept.
  public let upload: String?
  /// The fate of the file; nil if it was to be kept.
  package var aftermath: Aftermath?
}

/// The fate of a file that was to be removed once it was delivered.
package enum Aftermath: Sendable {
  /// It was moved there, or is gone for good.
  case removed(to: LocalPath?)
  case kept(KeptReason)
}

/// What an upload would do.
package struct UploadPreview {
  /// In bytes.
  package let size: Int64
  /// Whether the recording would be sent over tus, if the server supports it.
  package let usesTus: Bool
  /// The ID of the upload that would be resumed; nil for a new one.
  package let recordID: String?
}

/// Why an upload was not cancelled, or a recording not deleted.
package struct CancelDeleteError: Error {
  package let error: UploadError
  /// The server's response that led to it; nil if there was none.
  package let answer: RedactedAnswer?
  /// Whether the server may have done it anyway.
  package let mayBeDone: Bool
}
