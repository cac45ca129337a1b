/// The persistent state of an upload: its file, its destination and its phase. It does not hold the authoritative offset,
/// which only the server knows.
package struct UploadRecord: Equatable, Sendable {
  package enum Phase: String, Equatable, Sendable {
    /// In progress, or interrupted.
    case pending
    /// The server has every byte, but GigHive has not turned it into a recording yet.
    case uploaded
    case delivered
    /// Ended by an error that a retry alone does not fix.
    case failed
  }

  /// Eight hexadecimal digits.
  package let id: String
  package var phase = Phase.pending
  /// Whether it was ``Phase/uploaded`` before it failed.
  package var wasUploaded = false
  /// Seconds since 1970.
  package var createdAt: Int64 = 0
  package var updatedAt: Int64 = 0
  /// When the server confirmed it, in seconds since 1970; nil if it is not ``Phase/delivered``.
  package var deliveredAt: Int64?
  /// The file's absolute path, as bytes.
  package var path: [UInt8]
  package var identity: FileIdentity
  /// The file's status time when its content was last known to be that of a delivered recording; nil if it is not known, or
  /// cannot prove anything.
  package var statusTime: StatusTime?
  /// The ID of the file's file system; nil if it has none.
  package var fileSystemID: UInt64?
  /// Where it goes: a GigHive base address, a tus endpoint or the address of a form.
  package var endpoint: String
  /// The event that was named for it, which is a part of the destination; empty for none, and for other servers than GigHive.
  package let event: String
  /// The URL of the tus upload.
  package var uploadURL: String?
  /// The offset on the server when the record was written, in bytes.
  package var offset: Int64 = 0
  /// The media type and file name for the server, separated by a space.
  package var uploadedAs = ""
  /// The server's Upload-Expires.
  package var expires: String?
  /// The error of the last attempt.
  package var message: String?
  /// GigHive's number for the recording. Before the delivery, GigHive has the whole form and is still processing it.
  package var assetID: Int64?
  package var sha256: String?
  package var deleteToken: String?
  /// Whether the server was asked to delete the recording, and the outcome is unknown.
  package var isBeingDeleted = false
  /// Whether the last byte was about to be sent, so that the server may have the whole file.
  package var lastByteMayBeSent = false
  /// Whether the last attempt ended with ``UploadError/mayBeStored(_:)``. Then it is sent again only on request.
  package var mayBeStored = false
  /// What was sent without a result.
  package var fullSends: FullSends?
  /// When `resume --all` may try again, in seconds since 1970; nil for at once.
  package var nextRetry: Int64?
  /// Data of the caller, such as command-line options.
  package var note = ""
  /// Members written by later versions, which are kept.
  package internal(set) var others: [JSONValue.Member] = []

  package init(id: String, path: [UInt8], identity: FileIdentity, endpoint: String, event: String = "") {
    self.id = id
    self.path = path
    self.identity = identity
    self.endpoint = endpoint
    self.event = event
  }

  /// Whether the server may have every byte of an upload that is not delivered.
  package var mayBeWhole: Bool { phase == .uploaded || wasUploaded || lastByteMayBeSent }

  /// When it is tried again, in seconds since 1970; nil if nothing has to be waited for. A time that is more than a day ahead is
  /// from before the clock was set back.
  /// - Parameter now: in seconds since 1970.
  package func postponedUntil(now: Int64) -> Int64? {
    guard phase != .delivered, let nextRetry, nextRetry > now, nextRetry - max(now, 0) <= Limits.fullSendSeconds else {
      return nil
    }
    return nextRetry
  }

  /// Whether the text is the ID of a record.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 8 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && $0 >= 0x30 && ($0 < 0x41 || $0 > 0x46) }
  }
}
