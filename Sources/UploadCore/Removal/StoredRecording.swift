/// A delivered recording that GigHive is asked about.
package struct StoredRecording: Equatable, Sendable {
  /// The server's base address.
  package let base: TargetURI
  /// GigHive's number for it.
  package let assetID: Int64
  /// In lower-case hexadecimal digits.
  package let sha256: String
  /// Bytes.
  package let size: Int64

  package init(base: TargetURI, assetID: Int64, sha256: String, size: Int64) {
    self.base = base
    self.assetID = assetID
    self.sha256 = sha256
    self.size = size
  }

  /// nil if the server gave it no number, or its SHA-256 is not known.
  package init?(_ record: UploadRecord) {
    guard let delivery = record.delivery, let base = try? TargetURI(record.destination.endpoint),
      let assetID = delivery.assetID, let sha256 = delivery.sha256
    else { return nil }
    self.init(base: base, assetID: assetID, sha256: sha256, size: record.file.identity.size)
  }
}

/// What GigHive says about a delivered recording.
package enum Presence: Equatable, Sendable {
  /// It has the recording: the same SHA-256, the same size, and a file of that size.
  case stored
  /// It has no such recording, or no longer.
  case absent
  /// It has something else under that number, or a file of another size.
  case different
  /// Its database has the recording, but its file is gone.
  case withoutFile
  /// Its database has the recording, and names the file by something else than its SHA-256 and an extension.
  case misnamed
  /// Its database has the recording, but these credentials may not look at the file.
  case hidden
}
