/// What is kept of an upload, so that it survives the process: where it goes, which file it is, and how far it has come.
/// The server's offset is not kept: only the server knows it.
package struct UploadRecord: Equatable, Sendable {
  package enum Phase: String, Equatable, Sendable {
    /// On its way, or interrupted.
    case pending
    /// The server has every byte; GigHive has not yet made a recording of it.
    case uploaded
    case delivered
    /// Ended by an error that another try alone does not mend.
    case failed
  }

  /// Eight hexadecimal digits.
  package let id: String
  package var phase = Phase.pending
  /// Was it ``Phase/uploaded`` before it failed?
  package var wasUploaded = false
  /// Seconds since 1970.
  package var createdAt: Int64 = 0
  package var updatedAt: Int64 = 0
  /// When the server confirmed it, in seconds since 1970; nil if it is not ``Phase/delivered``.
  package var deliveredAt: Int64?
  /// The file's absolute path, as the bytes that it is.
  package var path: [UInt8]
  package var identity: FileIdentity
  /// What the upload was asked of: a GigHive base address or a tus endpoint.
  package var endpoint: String
  /// The tus upload's own address.
  package var uploadURL: String?
  /// Bytes that the server had when the record was written.
  package var offset: Int64 = 0
  /// The media type and name that the caller wanted the server to be told, with a space between.
  package var uploadedAs = ""
  /// The server's Upload-Expires.
  package var expires: String?
  /// The error of the last attempt.
  package var message: String?
  package var assetID: Int64?
  package var sha256: String?
  package var deleteToken: String?
  /// Was the server asked to delete the recording, without an answer that says whether it did?
  package var isBeingDeleted = false
  /// Was the last byte about to go out, so that the server may have had the whole file from then on?
  package var isEnding = false
  /// Did the last try end with ``UploadError/mayBeStored(_:)``? Then only a person may have it sent again.
  package var mayBeStored = false
  /// The caller's own words, such as the options of the command line.
  package var note = ""
  /// What a later version keeps in records of this format: it stays as it is.
  package internal(set) var others: [JSONValue.Member] = []

  package init(id: String, path: [UInt8], identity: FileIdentity, endpoint: String) {
    self.id = id
    self.path = path
    self.identity = identity
    self.endpoint = endpoint
  }

  /// Is the text an ID of a record?
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 8 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && $0 >= 0x30 && ($0 < 0x41 || $0 > 0x46) }
  }
}
