/// The persistent state of an upload: its file, its destination and how far it is.
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
  /// Seconds since 1970.
  package var createdAt: Int64 = 0
  package var updatedAt: Int64 = 0
  package var file: RecordedFile
  package var destination: RecordedDestination
  package var state = RecordState.unfinished(UnfinishedUpload())
  /// Data of the caller, such as command-line options.
  package var note = ""
  /// Members written by later versions, which are kept.
  package internal(set) var others: [JSONValue.Member] = []

  package init(id: String, _ file: RecordedFile, to destination: RecordedDestination) {
    self.id = id
    self.file = file
    self.destination = destination
  }

  /// The record for resuming the upload.
  /// - Parameters:
  ///   - own: the record that a new upload of the file would have.
  ///   - changed: the file's status time.
  package func renewed(by own: UploadRecord, changed: StatusTime) -> UploadRecord {
    var record = self
    record.file = own.file
    // A resumed upload does not read it again.
    record.file.sidecar = own.file.sidecar ?? file.sidecar
    record.destination.uploadedAs = own.destination.uploadedAs
    record.note = own.note
    record.unfinished?.renew(
      isSame: own.file.identity.change(since: file.identity) == nil,
      FileDoubt(own.file, changed: changed, since: file, unfinished?.sent))
    return record
  }

  /// When it is tried again, in seconds since 1970; nil if nothing has to be waited for. A time that is more than a day ahead is
  /// from before the clock was set back.
  /// - Parameter now: in seconds since 1970.
  package func postponedUntil(now: Int64) -> Int64? {
    guard let nextRetry = unfinished?.nextRetry, nextRetry > now, nextRetry - max(now, 0) <= Limits.fullSendSeconds
    else {
      return nil
    }
    return nextRetry
  }

  /// Whether the text is the ID of a record.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 8 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && $0 >= 0x30 && ($0 < 0x41 || $0 > 0x46) }
  }
}

/// The state, for those who need only a part of it.
extension UploadRecord {
  /// nil if it is delivered. Then setting a part of it changes nothing.
  package var unfinished: UnfinishedUpload? {
    get { if case .unfinished(let upload) = state { upload } else { nil } }
    set { if let newValue { state = .unfinished(newValue) } }
  }

  /// nil if it is not delivered. Then setting a part of it changes nothing.
  package var delivery: RecordedDelivery? {
    get { if case .delivered(let delivery) = state { delivery } else { nil } }
    set { if let newValue { state = .delivered(newValue) } }
  }

  package var phase: Phase {
    guard let unfinished else { return .delivered }
    if unfinished.failure != nil { return .failed }
    return unfinished.remote?.isWhole ?? false ? .uploaded : .pending
  }

  /// ``UnfinishedUpload/Failure/mayBeStored``
  package var mayBeStored: Bool { unfinished?.failure == .mayBeStored }

  /// The tus upload, also of a delivery.
  package var remote: RemoteUpload? {
    switch state {
    case .unfinished(let upload): upload.remote
    case .delivered(let delivery): delivery.remote
    }
  }

  /// What the server had over tus, or of a delivery, when the record was written, in bytes.
  package var offset: Int64 {
    switch state {
    case .unfinished(let upload): upload.remote?.offset ?? 0
    case .delivered: file.identity.size
    }
  }

  /// GigHive's number for the recording. Before the delivery, GigHive has the whole form and is still processing it.
  package var assetID: Int64? {
    switch state {
    case .unfinished(let upload): upload.assetID
    case .delivered(let delivery): delivery.assetID
    }
  }

  /// Whether the last byte was about to be sent over tus, also of a delivery.
  package var lastByteMayBeSent: Bool {
    switch state {
    case .unfinished(let upload): upload.lastByteMayBeSent
    case .delivered(let delivery): delivery.lastByteMayBeSent
    }
  }

  /// Whether the server has said of the upload what cannot be, also of a delivery.
  package var isServerDoubtful: Bool {
    switch state {
    case .unfinished(let upload): upload.isServerDoubtful
    case .delivered(let delivery): delivery.isServerDoubtful
    }
  }
}
