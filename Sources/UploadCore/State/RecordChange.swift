/// A change of an upload's record that must be on the disk before the upload continues.
package enum RecordChange: Equatable, Sendable {
  /// The server has created an upload at this address.
  case created(location: String, expires: String?)
  /// The file's last byte is about to go out: the server may have the whole file from here on.
  case ending
  /// The server has every byte.
  case uploaded
  /// The upload on the server is of no use any more.
  case forgotten

  /// The change without secrets that the server has repeated. An address is kept as it is: without it nothing can be resumed.
  package func redacted(_ secrets: Secrets) -> RecordChange {
    switch self {
    case .created(let location, let expires): .created(location: location, expires: expires.map { secrets.line($0) })
    case .ending, .uploaded, .forgotten: self
    }
  }
}

extension UploadRecord {
  package mutating func apply(_ change: RecordChange) {
    switch change {
    case .created(let location, let expires):
      phase = .pending
      uploadURL = location
      offset = 0
      self.expires = expires
      wasUploaded = false
      isEnding = false
    case .ending: isEnding = true
    case .uploaded:
      phase = .uploaded
      offset = identity.size
    case .forgotten: forgetUpload()
    }
  }

  /// As it is when the upload goes on.
  /// - Parameter own: the record that a new upload of the file would have.
  package func renewed(by own: UploadRecord) -> UploadRecord {
    var record = self
    record.path = own.path
    record.identity = own.identity
    record.note = own.note
    record.uploadedAs = own.uploadedAs
    record.message = nil
    record.mayBeStored = false
    if uploadURL == nil {
      record.offset = 0
      record.isEnding = false
    }
    if phase == .failed { record.phase = wasUploaded ? .uploaded : .pending }
    record.wasUploaded = false
    return record
  }

  /// The upload on the server is of no use any more.
  package mutating func forgetUpload() {
    phase = .pending
    wasUploaded = false
    uploadURL = nil
    offset = 0
    expires = nil
    isEnding = false
    mayBeStored = false
  }

  /// The upload ended without a delivery.
  /// - Parameters:
  ///   - message: the error in words; nil for one that needs none.
  ///   - offset: bytes that the server had when it last said so.
  package mutating func note(_ error: UploadError, message: String?, offset: Int64) {
    self.offset = offset
    self.message = message
    // What was sent of it is of no use for the file that it is now.
    if case .file(_, let error) = error, error.isChange { forgetUpload() }
    // Nor is an upload that became a recording of something else.
    switch error {
    case .checksumDiffers, .sizeDiffers: forgetUpload()
    default: break
    }
    if case .mayBeStored = error { mayBeStored = true }
    guard !error.leavesPending else { return }
    wasUploaded = phase == .uploaded
    phase = .failed
  }
}
