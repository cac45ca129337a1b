import UploadCore

/// How it came that the server has the recording.
public enum Delivery: Sendable {
  /// It was sent, and the server has confirmed it.
  case sent(SentRecording)
  /// It was delivered to this destination before, as a record says. Nothing was sent.
  case deliveredBefore(PreviousDelivery)

  /// nil if nothing was sent.
  public var sent: SentRecording? { if case .sent(let recording) = self { recording } else { nil } }

  /// GigHive's number for the recording.
  public var assetID: Int64? {
    switch self {
    case .sent(let recording): recording.receipt.assetID
    case .deliveredBefore(let previous): previous.assetID
    }
  }

  /// The ID of its record, if one was kept.
  public var upload: String? {
    switch self {
    case .sent(let recording): recording.upload
    case .deliveredBefore(let previous): previous.upload
    }
  }
}

/// A recording that was sent: the receipt, and what is known about it here.
public struct SentRecording: Sendable {
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
package enum UploadPreview {
  /// Send the file, with its size in bytes. `usesTus`: over tus, if the server supports it. `recordID`: of the upload that would be
  /// resumed; nil for a new one.
  case send(size: Int64, usesTus: Bool, recordID: String?)
  /// Nothing.
  case deliveredBefore(PreviousDelivery)
}

/// Why an upload was not cancelled, or a recording not deleted.
package struct CancelDeleteError: Error {
  package let error: UploadError
  /// The server's response that led to it; nil if there was none.
  package let answer: RedactedAnswer?
  /// Whether the server may have done it anyway.
  package let mayBeDone: Bool
}
