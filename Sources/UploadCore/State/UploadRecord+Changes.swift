/// How an upload's record changes.
extension UploadRecord {
  package mutating func apply(_ change: RecordChange) {
    switch change {
    case .created(let location, let expires):
      phase = .pending
      uploadURL = location
      offset = 0
      self.expires = expires
      wasUploaded = false
      lastByteMayBeSent = false
    case .mayBeStored:
      phase = .failed
      mayBeStored = true
    case .lastByteNext: lastByteMayBeSent = true
    case .processing(let assetID): self.assetID = assetID
    case .uploaded:
      phase = .uploaded
      offset = identity.size
    case .notStored:
      phase = .pending
      mayBeStored = false
      message = nil
    case .forgotten: forgetUpload()
    case .failedFullSends(let fullSends, let offset):
      self.fullSends = fullSends
      self.offset = offset
    }
  }

  /// The record for resuming the upload.
  /// - Parameter own: the record that a new upload of the file would have.
  package func renewed(by own: UploadRecord) -> UploadRecord {
    var record = self
    record.path = own.path
    record.identity = own.identity
    record.fileSystemID = own.fileSystemID
    record.note = own.note
    record.uploadedAs = own.uploadedAs
    record.message = nil
    record.mayBeStored = false
    record.nextRetry = nil
    if own.identity.change(since: identity) != nil {
      record.fullSends = nil
      record.assetID = nil
    }
    if uploadURL == nil {
      record.offset = 0
      record.lastByteMayBeSent = false
    }
    if phase == .failed { record.phase = wasUploaded ? .uploaded : .pending }
    record.wasUploaded = false
    return record
  }

  /// The upload on the server is no longer usable.
  package mutating func forgetUpload() {
    phase = .pending
    wasUploaded = false
    uploadURL = nil
    offset = 0
    expires = nil
    assetID = nil
    lastByteMayBeSent = false
    mayBeStored = false
  }

  /// The upload ended without being delivered.
  /// - Parameters:
  ///   - message: the text of the error; nil if it needs none.
  ///   - offset: the last known offset on the server, in bytes.
  package mutating func recordFailure(_ error: UploadError, message: String?, offset: Int64) {
    if offset > self.offset { fullSends = nil }
    self.offset = offset
    nextRetry = if case .postponed(_, let until, _) = error { until } else { nil }
    // The sent part is useless, because the file has changed.
    if case .file(_, let error) = error, error.isChange { forgetUpload() }
    // So is an upload that became a recording of something else.
    if error.cause.provesOtherContent { forgetUpload() }
    if case .mayBeStored = error {
      mayBeStored = true
    } else if mayBeStored {
      // The last byte was not sent after all, or a response says that the form is not stored.
      apply(.notStored)
    }
    self.message = message
    guard !error.leavesPending else { return }
    wasUploaded = phase == .uploaded
    phase = .failed
  }
}
