/// A delivered recording.
package struct RecordedDelivery: Equatable, Sendable {
  /// When the server confirmed it, in seconds since 1970; nil if it is not known.
  package var deliveredAt: Int64?
  /// GigHive's number for the recording.
  package var assetID: Int64?
  package var sha256: String?
  package var deleteToken: String?
  /// The file's status time when its content was last known to be that of the recording; nil if it is not known, or cannot
  /// prove anything.
  package var statusTime: StatusTime?
  package enum Deletion: String, Equatable, Sendable {
    /// The server was asked to delete the recording, and the outcome is unknown.
    case requested
    /// It has deleted it. Whoever finds the file again does not send it.
    case done
  }
  package var deletion: Deletion?
  /// ``Receipt/isUnprovedPage``
  package var isUnprovedPage = false
  /// The tus upload that became the recording. It stays in the record, and `list --json` shows when it expires.
  package internal(set) var remote: RemoteUpload?
  /// ``UnfinishedUpload/lastByteMayBeSent`` of that upload, which stays in the record.
  package internal(set) var lastByteMayBeSent = false
  /// ``UnfinishedUpload/isServerDoubtful`` of that upload.
  package internal(set) var isServerDoubtful = false

  package init() {}

  /// The delivery of an upload, of which the server has every byte.
  package init(of record: UploadRecord) {
    assetID = record.assetID
    remote = record.remote.map {
      RemoteUpload(url: $0.url, expires: $0.expires, offset: record.file.identity.size, isWhole: true)
    }
    lastByteMayBeSent = record.lastByteMayBeSent
    isServerDoubtful = record.isServerDoubtful
  }
}
