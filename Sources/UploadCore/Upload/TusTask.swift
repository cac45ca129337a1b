/// One recording by tus, and on GigHive the finalize call that makes a recording of the upload.
///
///     askingToken ──▶ uploading ──▶ hashing ──▶ finalizing ──▶ done
///     (guests)          ▲  │                      │    ▲
///                       │  └── fallBackToMultipart         ▼    │
///                       └────────────────────── locating (GigHive does not find the upload)
struct TusTask: Sendable {
  private enum State: Sendable {
    /// Is a guest's upload token good? (asked before the first byte)
    case askingToken
    case uploading
    /// The server speaks no tus.
    case notSpoken
    /// The server has every byte; what is missing of the digest is computed. `isGone`: it does not know the upload any more,
    /// perhaps because it is a recording already.
    case hashing(isGone: Bool)
    case finalizing(SentFile, isGone: Bool)
    /// GigHive did not find the upload: does the tus server have it?
    case locating(SentFile)
    case done(Receipt, SentFile)
  }

  /// What the caller wants, and what an earlier process left.
  private let plan: UploadPlan
  private var state: State
  private var upload: TusUpload
  /// Changes that the record must have before anything else is done.
  private var unsaved: [RecordChange] = []
  private var history: History

  /// What has become of the upload so far.
  private struct History {
    /// Has this process created the upload?
    var hasCreated = false
    /// Does the record say that the last byte may have gone out?
    var isEnding: Bool
    /// Can the last byte have reached the server, with no answer to it?
    var mayBeWhole: Bool
    /// The most bytes that the server has had.
    var highestOffset: Int64 = 0
    /// Bytes that it had when it last said so.
    var offset: Int64
    /// Bytes that it had before anything was sent; nil as long as it has not said so.
    var resumedFrom: Int64?
    /// Has the server had every byte?
    var wasUploaded: Bool
  }

  init(_ plan: UploadPlan) throws(UploadError) {
    let isGuest = plan.isGuest && plan.request.isForGigHive
    guard !isGuest || plan.request.fields.contains(FormField("tos_accepted", "true")) else { throw .termsNotAccepted }
    self.plan = plan
    state = isGuest ? .askingToken : .uploading
    do throws(TusError) {
      upload = try TusUpload(
        endpoint: plan.request.tusTarget, length: plan.size, metadata: plan.request.metadata,
        location: plan.previous.location, options: plan.request.tusOptions)
    } catch { throw .tus(error) }
    history = History(
      isEnding: plan.previous.isEnding, mayBeWhole: plan.previous.isEnding, offset: plan.previous.offset,
      wasUploaded: plan.previous.isUploaded)
  }

  private var request: UploadRequest { plan.request }

  /// The most bytes that the server has had, and one for all of them.
  var progress: Int64 {
    switch state {
    case .askingToken, .uploading, .notSpoken: history.highestOffset
    case .hashing, .finalizing, .locating, .done: plan.size + 1
    }
  }

  var mayPipeline: Bool {
    if case .uploading = state, case .sending = upload.state { true } else { false }
  }

  var awaitsAnswer: Bool {
    if case .uploading = state { upload.awaitsStored } else { false }
  }

  /// A tus server may take less than it was sent, and say so before it has all: the rest begins at its offset.
  func isOfPart(_ answer: Answer) -> Bool {
    guard case .uploading = state,
      case .tus(.offset(let offset)) = Verdict.ofTus(status: answer.status, fields: answer.fields)
    else { return false }
    return upload.isPart(offset)
  }

  var lastOffset: Int64 {
    switch state {
    case .askingToken, .uploading, .notSpoken: history.offset
    case .hashing, .finalizing, .locating, .done: plan.size
    }
  }

  mutating func forbidPipelining() { upload.forbidPipelining() }

  // MARK: Requests

  mutating func next() throws(UploadError) -> TaskStep {
    if let change = takeUnsaved() { return .save(change) }
    switch state {
    case .askingToken: return .ask(finalize(uploadID: ""))
    case .uploading, .locating: return try nextOfUpload()
    case .notSpoken: return .fallBackToMultipart
    case .hashing(let isGone):
      if request.computesSHA256 { return .hash(.wholeFile) }
      complete(SentFile(size: plan.size, sha256: nil), isGone: isGone)
      return try next()
    case .finalizing: return .ask(finalize(uploadID: upload.location?.lastPathSegment ?? ""))
    case .done(let receipt, let sent):
      return .finished(.delivered(receipt, sent, resumedFrom: history.resumedFrom ?? 0))
    }
  }

  mutating func takeUnsaved() -> RecordChange? { unsaved.isEmpty ? nil : unsaved.removeFirst() }

  private mutating func nextOfUpload() throws(UploadError) -> TaskStep {
    if let change = changeBeforeLastByte() { return .save(change) }
    switch upload.next() {
    case .ask(let request): return .ask(request)
    case .checksum(let algorithm, let offset, let length):
      return .hash(.range(algorithm, offset: offset, length: length))
    case .complete:
      if case .locating(let sent) = state {
        state = .finalizing(sent, isGone: false)
        throw .stillProcessing
      }
      state = .hashing(isGone: false)
      history.wasUploaded = true
      if request.isForGigHive { unsaved.append(.uploaded) }
    case .gone: try receiveGone()
    case .await: return .await
    }
    return try next()
  }

  /// A plain tus server may remove an upload that is whole, and then looks as if it never had it. GigHive tells.
  private mutating func changeBeforeLastByte() -> RecordChange? {
    guard !request.isForGigHive, !history.isEnding, upload.endsNext else { return nil }
    history.isEnding = true
    return .ending
  }

  private mutating func receiveGone() throws(UploadError) {
    // One that was whole may be gone because it is a recording by now.
    if request.isForGigHive, history.wasUploaded {
      state = .hashing(isGone: true)
      return
    }
    if !request.isForGigHive, history.mayBeWhole { throw .mayBeStored(.uploadLost) }
    try startOver()
  }

  /// An upload that this process has created, and that is gone already, counts as a failure: it could go on like that.
  private mutating func startOver() throws(UploadError) {
    let wasCreated = history.hasCreated
    restart()
    if wasCreated { throw .uploadLost }
  }

  private mutating func restart() {
    state = .uploading
    upload.restart()
    history = History(
      isEnding: false, mayBeWhole: false, highestOffset: history.highestOffset, offset: 0, resumedFrom: 0,
      wasUploaded: false)
    if upload.location == nil { unsaved.append(.forgotten) } else { noteCreation() }
  }

  private mutating func noteCreation() {
    guard let location = upload.location else { return }
    history.hasCreated = true
    history.isEnding = false
    history.mayBeWhole = false
    unsaved.append(.created(location: location.text, expires: upload.expires))
  }

  private func finalize(uploadID: String) -> HTTPRequest {
    HTTPRequest(
      method: "POST", target: request.base.appending(GigHiveAPI.finalize),
      fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.finalizeContent(uploadID: uploadID, fields: request.fields)))
  }

  // MARK: Hashes

  mutating func hashed(_ hashed: HashResult) {
    switch (state, hashed) {
    case (.hashing(let isGone), .wholeFile(let sha256, _)):
      complete(SentFile(size: plan.size, sha256: sha256), isGone: isGone)
    case (.uploading, .range(let checksum)): upload.setChecksum(checksum)
    default: break
    }
  }

  private mutating func complete(_ sent: SentFile, isGone: Bool) {
    state = request.isForGigHive ? .finalizing(sent, isGone: isGone) : .done(Receipt(), sent)
  }

  // MARK: Answers

  mutating func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch state {
    case .askingToken: try receiveToken(answer)
    case .uploading, .locating: try receiveUpload(answer, target)
    case .finalizing(let sent, let isGone): try receiveFinalize(answer, sent, isGone: isGone)
    case .notSpoken, .hashing, .done: break
    }
  }

  /// A server that does not know the question lets the upload begin: its finalize will tell.
  private mutating func receiveToken(_ answer: Answer) throws(UploadError) {
    switch Verdict.ofFinalize(answer) {
    case .gigHive(.guestTokenUnknown): throw .guestTokenRefused
    case .gigHive(.refused(status: 400, _)): throw answer.refusal
    case .gigHive, .tus, .somebodyElse:
      if answer.status == 401 || answer.status == 403 || RetryPolicy.isTransient(status: answer.status) {
        throw answer.refusal
      }
      state = .uploading
    }
  }

  private mutating func receiveUpload(_ answer: Answer, _ target: TargetURI) throws(UploadError) {
    // Somebody who is not the server can refuse what the server has stored.
    let isProved = answer.isSuccess || answer.fields.first("Tus-Resumable") != nil
    if !isProved, upload.mayHaveSentEnd(answer.sent) { history.mayBeWhole = true }
    let (before, wasCreating) = (upload.location, upload.state == .creating)
    do throws(TusError) {
      try upload.receive(
        status: answer.status, fields: answer.fields, from: target, afterMilliseconds: answer.afterMilliseconds)
    } catch { return try receive(error, answer, wasCreating: wasCreating) }
    noteOffset(isNew: before == nil)
    if upload.location != before { noteCreation() }
  }

  private mutating func receive(_ error: TusError, _ answer: Answer, wasCreating: Bool) throws(UploadError) {
    switch error {
    // Some servers, and firewalls before them, answer no OPTIONS, and take uploads all the same.
    case .notSpoken(status: 403), .notSpoken(status: 501): upload.assumeOffer()
    case .notSpoken(let status) where TusTask.isOfNoTusServer(status):
      // Somebody else may have said so: an upload that has begun is not given up for a form.
      if request.mustSpeakTus || upload.location != nil { return upload.assumeOffer() }
      state = .notSpoken
    case .refused(method: "POST", let status)
    where wasCreating && !request.mustSpeakTus && upload.offer == TusOffer() && [404, 405, 501].contains(status):
      state = .notSpoken
    case .refused(method: "PATCH", status: 405), .refused(method: "PATCH", status: 501): throw .tus(error)
    case .unproved(let status): throw .notFromServer(status: status)
    case .notSpoken, .refused: throw answer.refusal
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond, .noOffset,
      .checksumMismatch, .locked:
      throw .tus(error)
    }
  }

  private mutating func noteOffset(isNew: Bool) {
    switch upload.state {
    case .sending:
      history.offset = upload.acknowledged
    case .complete: break
    default: return
    }
    if history.resumedFrom == nil { history.resumedFrom = isNew ? 0 : upload.acknowledged }
    history.highestOffset = max(history.highestOffset, upload.acknowledged)
  }

  private mutating func receiveFinalize(_ answer: Answer, _ sent: SentFile, isGone: Bool) throws(UploadError) {
    let failure: ReplyFailure
    do throws(ReplyFailure) {
      let receipt = try ServerReply.fromGigHive(status: answer.status, content: answer.content, sent: sent)
      state = .done(receipt, sent)
      return
    } catch { failure = error }
    let error = UploadError(failure)
    switch Verdict.ofFinalize(answer) {
    case .gigHive(.guestTokenUnknown): throw .guestTokenRefused
    // The tus server does not know it, and no recording was made of it.
    case .gigHive(.uploadUnknown) where isGone, .gigHive(.refused(status: 500, _)) where isGone: return try startOver()
    case .gigHive(.uploadUnknown):
      state = .locating(sent)
      upload.locate()
      return
    case .gigHive, .tus, .somebodyElse: break
    }
    // What is on the server is not, or no longer, this recording.
    if error.isIntegrityFailure { restart() }
    throw error
  }

  /// Does the status of an answer to OPTIONS say that nobody speaks tus there?
  private static func isOfNoTusServer(_ status: Int) -> Bool {
    (status < 500 || status == 501) && status != 401 && status != 407 && !RetryPolicy.isTransient(status: status)
  }

  mutating func interrupted(_ interruption: Interruption) {
    switch state {
    case .uploading, .locating:
      if upload.mayHaveSentEnd(interruption.sent) { history.mayBeWhole = true }
      upload.interrupted(arrived: interruption.arrived)
    case .askingToken, .notSpoken, .hashing, .finalizing, .done: break
    }
  }
}
