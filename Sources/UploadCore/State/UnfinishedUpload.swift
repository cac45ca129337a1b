/// What is known of an upload that is not delivered. It does not hold the authoritative offset, which only the server knows.
package struct UnfinishedUpload: Equatable, Sendable {
  /// How the last attempt ended, if not in a way that leaves the upload pending.
  package enum Failure: Equatable, Sendable {
    /// By an error that a retry alone does not fix.
    case notDelivered
    /// With ``UploadError/mayBeStored(_:)``. Then it is sent again only on request.
    case mayBeStored
  }

  /// nil if it is in progress, or was interrupted.
  package var failure: Failure?
  /// The error of the last attempt.
  package var message: String?
  /// The upload on the tus server; nil if there is none, or its URL is not known yet.
  package var remote: RemoteUpload?
  /// The parts on a server that joins them; nil if there are none. On a tus server each is an upload of its own, and stays when they are joined.
  package var parts: UploadedParts?
  /// How often a tus server was asked to join the parts. Each time it may have copied all of them.
  package var joins: Int64 = 0
  /// The URL of a part of the file's former content on the tus server, which is removed before anything else is sent.
  package var formerURL: String?
  /// Whether the last byte was about to be sent over tus, perhaps with the request that creates the upload, so that the server may
  /// have the whole file.
  package var lastByteMayBeSent = false
  /// GigHive's number for the recording, if it has the whole form and is still processing it.
  package var assetID: Int64?
  /// The longest beginning of the file that is known to be on the tus server, if an attempt has noted one.
  package var sent: SentPart?
  /// Why the part on the tus server may be of another file than the record's; nil if it is not.
  package var doubt: FileDoubt?
  /// Whether the server has said of an earlier attempt what cannot be.
  package var isServerDoubtful = false
  /// What gets the content past something that refuses it.
  package var detours = TusDetours()
  /// The server's cookies. They are secrets.
  package var cookies = Cookies()
  /// What was sent without a result.
  package var fullSends: FullSends?
  /// When `resume --all` may try again, in seconds since 1970; nil for at once.
  package var nextRetry: Int64?

  package init() {}

  package var location: TargetURI? { remote.flatMap { try? TargetURI($0.url) } }

  /// The last known offset on the server, in bytes.
  package var offset: Int64 { remote?.offset ?? 0 }

  /// Whether the server had every byte.
  var isUploaded: Bool { remote?.isWhole ?? false }

  /// Whether the server may have every byte over tus.
  package var mayBeWhole: Bool { isUploaded || lastByteMayBeSent }

  /// Whether the recording was sent while it grew: each part is compared with the file before it becomes a part of the recording.
  package var isGrowing: Bool { parts?.areGrowing ?? false && !isUploaded }

  /// Whether nothing is known of it on the server.
  package var hasNothingLeft: Bool { remote == nil && formerURL == nil && parts == nil }

  /// All that a tus server has of it: one upload, or the parts that were sent while the recording was made.
  package func uploads(createdAt endpoint: TargetURI) -> [TargetURI] {
    let whole = (remote?.url ?? formerURL).flatMap { try? TargetURI($0) }
    return (whole.map { [$0] } ?? []) + (parts?.uploads(createdAt: endpoint) ?? [])
  }

  /// The multipart upload on an S3 server; nil if there is none.
  package var multipartUpload: TargetURI? {
    guard let url = remote?.url ?? formerURL, let location = try? TargetURI(url), location.isMultipartUpload else {
      return nil
    }
    return location
  }

  /// - Parameters:
  ///   - size: of the file, in bytes.
  ///   - statusTime: its status time when its content was last known to be what is sent; nil if it can prove nothing.
  package mutating func apply(_ change: RecordChange, size: Int64, statusTime: StatusTime? = nil) {
    switch change {
    case .created(let location, let expires):
      failure = nil
      remote = RemoteUpload(url: location, expires: expires)
      formerURL = nil
      lastByteMayBeSent = false
      sent = nil
      doubt = nil
      detours.splitEnd = 0
    case .moved(let location): remote?.url = location
    case .mayBeStored: failure = .mayBeStored
    case .lastByteNext: lastByteMayBeSent = true
    case .processing(let assetID): self.assetID = assetID
    case .continued: doubt = nil
    case .parts(let parts):
      self.parts = parts
      remote?.offset = parts.total(in: size)
      if !parts.areGrowing { sent = parts.beginning(in: size, statusTime: statusTime) ?? sent }
    case .joins(let count): joins = count
    case .joined(let location, let expires):
      failure = nil
      remote = RemoteUpload(url: location, expires: expires, offset: size, isWhole: true)
    case .partsRemoved: parts = nil
    case .partsCompared(let location):
      remote = RemoteUpload(url: location, offset: parts?.total(in: size) ?? 0)
      parts = nil
    case .uploaded:
      failure = nil
      remote?.offset = size
      remote?.isWhole = true
    case .notStored:
      failure = nil
      message = nil
    case .forgotten: forget()
    case .disproved:
      forget()
      isServerDoubtful = true
    case .detours(let detours): self.detours = detours
    case .cookies(let cookies): self.cookies = cookies
    case .failedFullSends(let fullSends, let offset):
      self.fullSends = fullSends
      remote?.offset = offset
    }
  }

  /// The upload on the server is no longer usable.
  package mutating func forget() {
    failure = nil
    remote = nil
    parts = nil
    lastByteMayBeSent = false
    assetID = nil
    sent = nil
    doubt = nil
    detours.splitEnd = 0
  }

  /// The upload is resumed.
  /// - Parameters:
  ///   - isSame: whether the file has the same size, modification time and edges.
  ///   - doubt: why it may be another one nevertheless.
  mutating func renew(isSame: Bool, _ doubt: FileDoubt?) {
    failure = nil
    message = nil
    nextRetry = nil
    if !isSame {
      fullSends = nil
      assetID = nil
      joins = 0
    }
    if remote == nil {
      lastByteMayBeSent = false
      self.doubt = nil
    } else if self.doubt != .replaced {
      self.doubt = doubt
    }
  }

  /// The upload ended without being delivered.
  /// - Parameter message: the text of an error.
  package mutating func apply(_ end: UploadEnd, message: (UploadError) -> String?) {
    fail(with: end.recorded, message: message(end.recorded), offset: end.offset)
    // The longest part is kept. Parts with digests say themselves what was sent.
    if let part = end.sent, remote != nil, parts?.digests == nil, part.length > sent?.length ?? 0 { sent = part }
    guard let contentDoubt = end.contentDoubt, failure != .mayBeStored else { return }
    if lastByteMayBeSent, contentDoubt == .unclear {
      let error = UploadError.mayBeStored(end.recorded)
      fail(with: error, message: message(error), offset: end.offset)
    } else {
      // How the attempt ended stays.
      let failure = failure
      if !mayBeWhole { formerURL = remote?.url ?? formerURL }
      forget()
      self.failure = failure
    }
  }

  private mutating func fail(with error: UploadError, message: String?, offset: Int64) {
    if let remote, FullSends.isProgress(offset - remote.offset, of: Limits.fullSendLength),
      fullSends?.outlastsProgress == false
    {
      fullSends = nil
    }
    remote?.offset = offset
    nextRetry = if case .postponed(_, let until, _) = error { until } else { nil }
    // The sent part is useless, because the file has changed.
    if case .file(_, let error) = error, error.isChange, !isGrowing {
      if !mayBeWhole { formerURL = remote?.url ?? formerURL }
      forget()
    }
    // So is an upload that became a recording of something else.
    if error.cause.provesOtherContent { forget() }
    self.message = message
    if case .mayBeStored = error {
      failure = .mayBeStored
    } else if !error.traits.leavesPending {
      failure = .notDelivered
    } else if failure == .mayBeStored {
      // The last byte was not sent after all, or a response says that the form is not stored.
      failure = nil
    }
  }
}

/// The upload on a tus server.
package struct RemoteUpload: Equatable, Sendable {
  package var url: String
  /// The server's Upload-Expires.
  package let expires: String?
  /// The offset on the server when the record was written, in bytes.
  package var offset: Int64
  /// Whether the server has said that it has every byte, and GigHive has to turn them into a recording.
  package var isWhole: Bool

  package init(url: String, expires: String? = nil, offset: Int64 = 0, isWhole: Bool = false) {
    self.url = url
    self.expires = expires
    self.offset = offset
    self.isWhole = isWhole
  }
}

/// The beginning of a file, as it was sent over tus.
package struct SentPart: Equatable, Sendable {
  /// Bytes.
  package var length: Int64
  package var sha256: String
  /// The file's status time when its content was last known to be what was sent; nil if it can prove nothing.
  package var statusTime: StatusTime?

  package init(length: Int64, sha256: String, statusTime: StatusTime? = nil) {
    self.length = length
    self.sha256 = sha256
    self.statusTime = statusTime
  }
}

/// A change of an upload's record that must be on disk before the upload continues.
package enum RecordChange: Equatable, Sendable {
  /// The server has created an upload at this URL.
  case created(location: String, expires: String?)
  /// The upload is at this URL, not where the server says that it is.
  case moved(location: String)
  /// The upload's last byte is about to be sent: the server may have the whole file from now on.
  case lastByteNext
  /// The last byte of a form is about to be sent: the server may store it from now on, and cannot be asked.
  case mayBeStored
  /// The server has not stored that form, which is sent again.
  case notStored
  /// GigHive has the whole form, and will process the recording under this number.
  case processing(assetID: Int64)
  /// The part on the server is of the file as it is now.
  case continued
  /// The server has these parts of the recording.
  case parts(UploadedParts)
  /// The tus server is about to be asked to join them, for this time.
  case joins(Int64)
  /// The tus server has joined them to an upload at this URL, which has every byte.
  case joined(location: String, expires: String?)
  /// It has nothing else of the recording any more.
  case partsRemoved
  /// What was sent in order while the recording grew, to an upload at this URL, is what the file has. Its end is missing.
  case partsCompared(location: String)
  /// The server has every byte.
  case uploaded
  /// The upload on the server is no longer usable.
  case forgotten
  /// Nor is it, because what the server says of it cannot be: the server is not trusted with the only copy.
  case disproved
  /// What gets the content past something that refuses it.
  case detours(TusDetours)
  /// The server's cookies for the upload.
  case cookies(Cookies)
  /// So much was sent without a result. The offset is the last known one on the server, in bytes.
  case failedFullSends(FullSends, offset: Int64)

  /// Whether the upload must not continue before it is saved. A form is delivered without its record, too: what is lost is the
  /// protection against sending it twice.
  package var mustBeSaved: Bool {
    switch self {
    case .mayBeStored, .notStored, .processing, .continued, .joins: false
    // The server lists the parts that it has, but not of what they were made.
    case .parts(let parts): parts.areGrowing
    case .created, .moved, .lastByteNext, .joined, .partsRemoved, .partsCompared, .uploaded, .forgotten, .disproved,
      .detours, .cookies, .failedFullSends:
      true
    }
  }

  /// The change with secrets that the server repeated redacted. URLs are not changed, because resuming needs them.
  package func redacted(_ secrets: Secrets) -> RecordChange {
    switch self {
    case .created(let location, let expires): .created(location: location, expires: expires.map { secrets.line($0) })
    case .joined(let location, let expires): .joined(location: location, expires: expires.map { secrets.line($0) })
    case .moved, .lastByteNext, .mayBeStored, .notStored, .processing, .continued, .parts, .joins, .partsRemoved,
      .partsCompared, .uploaded, .forgotten, .disproved, .detours, .cookies, .failedFullSends:
      self
    }
  }
}
