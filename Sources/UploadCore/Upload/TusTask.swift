/// One recording over tus, and for GigHive the finalize call that turns the upload into a recording.
///
///     locatingSuperseded ──▶ removingSuperseded ──▶ checkingToken ──▶ uploading ──▶ hashing ──▶ finalizing ──▶ done
///     (a changed or another file)                 (guests)          ▲  │                       │    ▲
///                                                                   │  └──▶ notSupported       ▼    │
///                                        (packets are lost) parting └──────────────────────── locating
///                                                                       (GigHive does not find the upload)
final class TusTask: UploadTask {
  enum State: Sendable {
    /// Ask whether the server has a whole upload of the file's former content. It is then left alone.
    case locatingSuperseded(TargetURI)
    /// End the upload of the file's former content, whatever the response.
    case removingSuperseded(TargetURI)
    /// Ask whether a guest's upload token is valid, before the first byte.
    case checkingToken
    case uploading
    /// It is better sent in parts, over several connections, than as this upload.
    case parting(TargetURI)
    case notSupported
    /// The server has every byte, and the rest of the digest is computed. `isGone`: it no longer knows the upload, perhaps
    /// because it has become a recording.
    case hashing(isGone: Bool)
    case finalizing(SentFile, isGone: Bool)
    /// GigHive did not find the upload. Ask whether the tus server has it.
    case locating(SentFile)
    case done(Receipt, SentFile)
  }

  /// The request, and the state left by an earlier process.
  private let plan: UploadPlan
  private var state: State
  private var upload: TusUpload
  private var history: History
  /// Whether the server had much of the recording, or GigHive all of any, and lost it, when the upload started over.
  private var hasLost = false
  /// What the kernel had counted on the connection when the last response came.
  private var counted: LinkCounts?
  /// Why the upload that somebody else has created is of no use.
  private var refusal: TusError?

  struct History {
    /// Whether this process has created the upload.
    var hasCreated = false
    /// Whether the server may have the last byte, although no response says so.
    var stored: StoredDoubt
    /// How PATCH was refused, until the same as a POST is answered.
    var refusedPatch: UploadError?
    /// A 5xx to the request with the last byte.
    var refusalAtEnd: UploadError?
    /// The most bytes that the server has had.
    var highestOffset: Int64 = 0
    /// The last known offset on the server, in bytes.
    var offset: Int64
    /// The offset before anything was sent, in bytes; nil while unknown.
    var resumedFrom: Int64?
    /// Whether the server has had every byte.
    var wasUploaded: Bool
    /// Whether GigHive's last response to finalize was that the upload's file is no longer there.
    var isTaken = false
    /// Whether the server did not say how much it has, although it knows the upload.
    var hasHiddenOffset = false
    /// Whether a finalize call had no response from GigHive, which may still work on it.
    var mayStillFinalize = false
    /// Whether the tus server was asked after the response before.
    var wasLocated = false
    /// Why the part on the server may be of another file; nil if it is not.
    var doubt: FileDoubt?
    /// Whether an earlier process has begun the upload, and what it has sent was not compared yet.
    var isUnexamined = false
  }

  init(_ plan: UploadPlan) throws(UploadError) {
    let isGuest = plan.isGuest && plan.request.isForGigHive
    guard !isGuest || plan.request.fields.contains(FormField("tos_accepted", "true")) else { throw .termsNotAccepted }
    self.plan = plan
    let isCreated = plan.request.isCreated
    state =
      isCreated ? .uploading : plan.superseded.map { .locatingSuperseded($0) } ?? TusTask.firstState(isGuest: isGuest)
    do throws(TusError) {
      upload = try TusUpload(
        endpoint: plan.request.tusTarget, length: plan.size, metadata: plan.request.metadata,
        location: plan.previous.location,
        lastByteMayBeSent: plan.request.isForGigHive || plan.previous.lastByteMayBeSent || plan.previous.isUploaded,
        detours: plan.previous.detours,
        options: plan.request.tusOptions)
    } catch { throw .tus(error) }
    history = History(
      stored: plan.previous.lastByteMayBeSent ? .unclear : .none, offset: plan.previous.offset,
      resumedFrom: plan.resumedFrom, wasUploaded: plan.previous.isUploaded, doubt: plan.previous.doubt,
      isUnexamined: plan.previous.location != nil)
    guard isCreated else { return }
    history.isUnexamined = true
    if plan.superseded != nil { history.doubt = .replaced }
  }

  private static func firstState(isGuest: Bool) -> State { isGuest ? .checkingToken : .uploading }

  /// Whether the request in flight is about an upload that is not needed.
  override var isTidying: Bool {
    switch state {
    case .locatingSuperseded, .removingSuperseded: true
    case .uploading, .locating: upload.isRemoving
    case .checkingToken, .parting, .notSupported, .hashing, .finalizing, .done: false
    }
  }

  /// The upload of the file's former content has ended, or is left to expire.
  private func leaveSuperseded() {
    state = TusTask.firstState(isGuest: plan.isGuest && plan.request.isForGigHive)
  }

  /// Whether the server had the whole recording already: in parts that were compared before they were joined, or of an earlier process.
  override var isComparedLater: Bool { plan.previous.isUploaded && !history.hasCreated }

  private var request: UploadRequest { plan.request }

  /// The most bytes that the server has had, plus one if it has had all.
  override var progress: Int64 {
    switch state {
    case .locatingSuperseded, .removingSuperseded, .checkingToken, .uploading, .parting, .notSupported:
      history.highestOffset
    case .hashing, .finalizing, .locating, .done: plan.size + 1
    }
  }

  override var mayPipeline: Bool {
    if case .uploading = state, case .sending = upload.state { true } else { false }
  }

  override var awaitsRecording: Bool {
    if case .finalizing = state { true } else { false }
  }

  override var isVerifying: Bool {
    if case .hashing = state { true } else { false }
  }

  override var awaitsOutcome: Bool {
    switch state {
    case .locatingSuperseded, .removingSuperseded, .checkingToken, .uploading, .parting, .notSupported: false
    case .hashing, .finalizing, .locating, .done: true
    }
  }

  override var awaitsAnswer: Bool {
    if case .uploading = state { upload.awaitsStored } else { false }
  }

  /// Why a success that arrives before the whole request was sent does not count; nil if it does. With tus, the server may store a
  /// part of the content, and the rest starts at its offset.
  override func problem(ofEarly answer: Answer) -> UploadError? {
    let problem = UploadError.prematureSuccess(status: answer.status)
    guard case .uploading = state else { return problem }
    switch (upload.state, Verdict.ofTus(status: answer.status, fields: answer.fields)) {
    case (.creating, _): return answer.status == 201 ? nil : problem
    // After a delay, HEAD shows how much it really has.
    case (.sending, .tus(.offset(let offset))): return upload.isPart(offset) ? nil : .tus(.interrupted)
    case (.sending, .somebodyElse(let status)): return .tus(.unproved(status: status))
    default: return problem
    }
  }

  override var lastOffset: Int64 {
    switch state {
    case .locatingSuperseded, .removingSuperseded, .checkingToken, .uploading, .parting, .notSupported: history.offset
    case .hashing, .finalizing, .locating, .done: plan.size
    }
  }

  override var isMoving: Bool { upload.isMoving }

  override var hasUpload: Bool { upload.location != nil }

  override var doubt: StoredDoubt { history.stored }

  override var hasLostRecording: Bool { hasLost }

  override func isPortals(_ answer: Answer) -> Bool { awaitsRecording && LikelySoftware.isLoginInstead(answer) }

  /// A gateway gave up a finalize call on which GigHive may still work: each further one would run beside it.
  override func pauseMilliseconds(after error: UploadError) -> Int64 {
    isHeldUp(by: error) ? Limits.finalizePauseMilliseconds : 0
  }

  override var finalizingPatienceMilliseconds: Int64? {
    guard history.isTaken else { return nil }
    return history.mayStillFinalize ? Limits.lostUploadLongMilliseconds : Limits.lostUploadMilliseconds
  }

  override func forbidPipelining() { upload.forbidPipelining() }

  // MARK: Requests

  override func next() throws(UploadError) -> TaskStep {
    if let refusal { throw .tus(refusal) }
    switch state {
    case .locatingSuperseded(let location): return .ask(TusUpload.head(of: location))
    case .removingSuperseded(let location):
      return .ask(TusUpload.termination(of: location, overridesMethod: upload.detours.found.overridesMethod))
    case .checkingToken: return .ask(finalize(uploadID: ""))
    case .uploading, .locating: return try nextOfUpload()
    case .parting(let location):
      return .sendParts(leaving: location, overridesMethod: upload.detours.found.overridesMethod)
    case .notSupported: return .fallBackToMultipart
    case .hashing(let isGone):
      if plan.computesSHA256 { return .hash(.wholeFile) }
      complete(SentFile(size: plan.size, sha256: nil), isGone: isGone)
      return try step()
    case .finalizing: return .ask(finalize(uploadID: upload.location?.lastPathSegment ?? ""))
    case .done(let receipt, let sent):
      return .finished(.delivered(receipt, sent, resumedFrom: history.resumedFrom ?? 0))
    }
  }

  private func nextOfUpload() throws(UploadError) -> TaskStep {
    if request.isCreated, history.isUnexamined, let offset = upload.knownOffset { try examineCreated(offset) }
    switch continuation {
    case .compare(let sent): return .hash(.beginning(length: sent.length))
    case .read(let length): return .hash(.beginning(length: length))
    case .startOver:
      leaveOtherPart()
      return try step()
    case .proceed: endExamination()
    case nil: break
    }
    if hasPending { return try step() }
    if plan.size >= Limits.linkTrialFrom, upload.confirmed < Limits.linkTrialEnd, asksOfLink { upload.tryLink() }
    switch upload.next() {
    case .ask(var request):
      // A plain tus server may remove a complete upload, as if it never had it. GigHive reports it.
      request.announcesLastByte = !self.request.isForGigHive && upload.sendsLastByte
      return .ask(request)
    case .checksumOfNextPatch(let algorithm, let offset, let length):
      return .hash(.range(algorithm, offset: offset, length: length))
    case .complete:
      if case .locating(let sent) = state {
        state = .finalizing(sent, isGone: false)
        throw .stillProcessing
      }
      state = .hashing(isGone: false)
      history.wasUploaded = true
      if request.isForGigHive { save(.uploaded) }
    case .gone: try receiveGone()
    case .await: return .await
    }
    return try step()
  }

  /// The server has said how much it has of an upload that somebody else has created.
  private func examineCreated(_ offset: Int64) throws(UploadError) {
    if offset == 0 { return endExamination() }
    let isSentHere = plan.previous.location != nil
    let isUnsentEnd = offset == plan.size && !plan.previous.lastByteMayBeSent && !plan.previous.isUploaded
    if !isSentHere || isUnsentEnd { throw .tus(.createdForAnother(offset: offset)) }
  }

  /// What the server has is of this file.
  private func endExamination() {
    (history.doubt, history.isUnexamined) = (nil, false)
    guard request.isCreated, plan.previous.location == nil else { return }
    save(.created(location: request.endpoint, expires: upload.expires))
  }

  /// How the upload of an earlier process continues; nil if that is decided, or cannot be decided yet.
  private var continuation: ContinuationPolicy.Decision? {
    guard history.isUnexamined, let offset = upload.knownOffset else { return nil }
    return ContinuationPolicy.decide(
      history.doubt, sent: plan.previous.sent, offset: offset, size: plan.size,
      digestDecides: plan.computesSHA256 && !request.isForGigHive)
  }

  override var readsUnknown: Bool {
    if case .read = continuation { true } else { false }
  }

  override func lastByteNext() {
    guard history.stored == .none else { return }
    history.stored = .announced
    save(.lastByteNext)
  }

  /// The request in flight has no response that says how much is stored. To a plain server, no last byte is sent before it was announced.
  /// - Parameter sent: how much of the oldest request's content was sent.
  /// - Returns: whether it may have been the last byte.
  private func doubt(_ sent: ContentSent) -> Bool {
    guard upload.mayHaveSentLastByte(sent), request.isForGigHive || history.stored != .none else { return false }
    history.stored = .unclear
    return true
  }

  /// Whether a file that changed on the way may be stored: its upload is forgotten, because the next one has other content.
  override func mayBeStored(afterLocal error: UploadError) -> Bool {
    guard !request.isForGigHive, case .file(_, .changedInTransit) = error else { return false }
    switch state {
    case .uploading: return history.stored == .unclear || upload.mayHaveSentLastByte(.whole)
    case .hashing, .done: return true
    case .locatingSuperseded, .removingSuperseded, .checkingToken, .parting, .notSupported, .finalizing, .locating:
      return false
    }
  }

  private func receiveGone() throws(UploadError) {
    // A complete upload may be gone because it has become a recording.
    if request.isForGigHive, history.wasUploaded {
      state = .hashing(isGone: true)
      return
    }
    // Some tus servers move complete uploads away.
    if !request.isForGigHive, history.stored == .unclear || history.wasUploaded {
      throw .mayBeStored(history.refusalAtEnd ?? .uploadLost)
    }
    if request.isCreated { throw .tus(.createdUploadGone) }
    try startOver()
  }

  /// If an upload that this process created is gone, that counts as a failure, because it could happen endlessly.
  private func startOver() throws(UploadError) {
    let wasCreated = history.hasCreated
    let lost = history.wasUploaded ? plan.size : wasCreated ? history.offset : 0
    hasLost = history.isTaken || lost > Limits.fullSendLength
    restart()
    if wasCreated { throw .uploadLost }
  }

  /// The part on the server is of another file. As only a part, it is ended there.
  private func leaveOtherPart() {
    if request.isCreated {
      refusal = .createdForAnother(offset: upload.knownOffset ?? 0)
      return
    }
    let other = (upload.knownOffset ?? plan.size) < plan.size ? upload.location : nil
    restart()
    if let other { state = .removingSuperseded(other) }
    warn(.otherFile)
  }

  /// - Parameter change: what the record then says if there is no new upload yet.
  private func restart(noting change: RecordChange = .forgotten) {
    state = .uploading
    upload.restart()
    history = History(
      stored: .none, highestOffset: hasLostRecording ? 0 : history.highestOffset,
      offset: 0, resumedFrom: 0,
      wasUploaded: false)
    if upload.location == nil { save(change) } else { noteCreation() }
  }

  private func noteCreation() {
    guard let location = upload.location else { return }
    history.hasCreated = true
    history.stored = .none
    save(.created(location: location.text, expires: upload.expires))
  }

  // MARK: Hashes

  override func hashed(_ hashed: HashResult) {
    switch (state, hashed) {
    case (.hashing(let isGone), .wholeFile(let sha256, _, _)):
      complete(SentFile(size: plan.size, sha256: sha256), isGone: isGone)
    case (.uploading, .range(let digest, _)), (.locating, .range(let digest, _)):
      upload.setChecksum(ofNextPatch: digest)
    case (.uploading, .beginning(let sha256, let isStable)), (.locating, .beginning(let sha256, let isStable)):
      switch continuation {
      case .compare(let sent) where sha256 != sent.sha256: return leaveOtherPart()
      case .read where !isStable: return leaveOtherPart()
      case .compare, .read:
        if history.doubt != nil { save(.continued) }
        endExamination()
      case .startOver, .proceed, nil: break
      }
    // Of a state that an answer has ended in the meantime.
    case (_, .wholeFile), (_, .wholeFileAgain), (_, .beginning), (_, .range), (_, .rangeAsSent): break
    }
  }

  /// What the interruption shows, with those before it.
  override func cause(of interruption: Interruption) -> UploadError {
    guard let time = interruption.cutAfterMilliseconds, upload.sizing.isOutOfTime(after: time) else {
      return interruption.error
    }
    return .tus(.requestsStopped(afterMilliseconds: time))
  }

  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    switch state {
    case .uploading, .locating:
      counted = nil
      _ = doubt(interruption.sent)
      upload.interrupted(interruption)
    case .locatingSuperseded, .removingSuperseded: leaveSuperseded()
    case .finalizing(let sent, _):
      switch interruption.error {
      case let error where isHeldUp(by: error):
        history.mayStillFinalize = true
        state = .locating(sent)
        upload.locate()
      case .refused: break
      case let error:
        // A server that closed a kept connection before the call arrived does not work on it.
        if error.traits.leavesOutcomeOpen, interruption.staleness == .fresh { history.mayStillFinalize = true }
      }
    case .checkingToken, .parting, .notSupported, .hashing, .done: break
    }
    return .allowed
  }

  // MARK: Responses

  override func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch state {
    case .locatingSuperseded(let location): receiveSuperseded(answer, at: location)
    case .removingSuperseded: leaveSuperseded()
    case .checkingToken: try receiveToken(answer)
    case .uploading, .locating: try receiveUpload(answer, target)
    case .finalizing(let sent, let isGone): try receiveFinalize(answer, sent, isGone: isGone)
    case .parting, .notSupported, .hashing, .done: break
    }
  }

  /// Only a part of a recording may be deleted: of the whole, the server may have the only copy.
  private func receiveSuperseded(_ answer: Answer, at location: TargetURI) {
    guard case .tus(.offset(let offset)) = Verdict.ofTus(status: answer.status, fields: answer.fields),
      let length = answer.fields.tusNumber("Upload-Length"), offset < length
    else { return leaveSuperseded() }
    state = .removingSuperseded(location)
  }

  private func receiveUpload(_ answer: Answer, _ target: TargetURI) throws(UploadError) {
    if !saysHowMuchIsStored(answer), doubt(answer.sent), answer.status >= 500 { history.refusalAtEnd = answer.refusal }
    let (before, detours, state) = (upload.location, upload.detours.found, upload.state)
    do throws(TusError) {
      try upload.receive(
        status: answer.status, fields: answer.fields, from: target, sent: answer.sent,
        afterMilliseconds: answer.afterMilliseconds)
    } catch {
      if let before { noteMove(from: before) }
      return try receive(error, answer, to: state)
    }
    noteOffset(isNew: before == nil)
    if let before { noteMove(from: before) } else { noteCreation() }
    if upload.detours.found != detours { save(.detours(upload.detours.found)) }
    if case .sending = state, upload.detours.refusal != nil { history.refusedPatch = answer.refusal }
    if let link = answer.link {
      let counts = counted.map { link.since($0) } ?? link
      counted = link
      if asksOfLink, plan.isSentSoonerInParts(from: upload.confirmed, counts), let location = upload.location {
        self.state = .parting(location)
      }
    }
  }

  /// Whether the upload may be left for parts, over several connections.
  package override var asksOfLink: Bool {
    guard case .uploading = state, !history.isUnexamined, history.stored == .none else { return false }
    switch upload.state {
    case .creating, .sending: break
    default: return false
    }
    return upload.offer.concatenates && upload.offer.terminates && plan.mayBeLeftForParts(at: upload.confirmed)
  }

  /// The upload may be at another URL than the server says, or nowhere.
  private func noteMove(from before: TargetURI) {
    guard upload.location != before else { return }
    save(upload.location.map { .moved(location: $0.text) } ?? .forgotten)
  }

  /// A refusal without proof may not be from the server, which may have stored the upload, and a success may lack the offset. A
  /// proxy can repeat a request, which then meets the lock, or the offset, of the first one.
  private func saysHowMuchIsStored(_ answer: Answer) -> Bool {
    switch Verdict.ofTus(status: answer.status, fields: answer.fields) {
    case .tus(.offset): true
    case .tus(.locked), .tus(.conflict): false
    default: !answer.isSuccess && answer.fields.haveTusProof
    }
  }

  /// - Parameter state: that of the upload before the response.
  private func receive(
    _ error: TusError, _ answer: Answer, to state: TusUpload.State
  ) throws(UploadError) {
    switch error {
    // Some servers, or firewalls in front of them, do not answer OPTIONS but accept uploads.
    case .notSupported(status: 403), .notSupported(status: 501): upload.assumeOffer()
    case .notSupported(let status) where TusTask.rulesOutTus(status):
      // The response may not be from the server, so a started upload is not replaced by a form.
      if request.requiresTus || upload.location != nil { return upload.assumeOffer() }
      self.state = .notSupported
    case .refused(method: "POST", let status)
    where state == .creating && !request.requiresTus && upload.offer == TusCapabilities()
      && [404, 405, 501].contains(status):
      self.state = .notSupported
    case .refused(method: "PATCH", status: 400) where Verdict.isInterruption(answer): throw .tus(.interrupted)
    case .refused(method: "PATCH", status: 405), .refused(method: "PATCH", status: 501): throw .tus(error)
    case .refused(method: "PATCH", _):
      if case .tryingPost = state, let refusal = history.refusedPatch { throw refusal }
      throw answer.refusal
    case .unproved(let status): throw .notFromServer(status: status)
    // A portal's page, as after any other request.
    case .refused(method: "POST", status: 200..<300) where !answer.fields.haveTusProof:
      throw .notFromServer(status: answer.status)
    case .notSupported, .refused: throw answer.refusal
    case .offsetBeyond(let sent, let acknowledged) where answer.fields.haveTusProof:
      try beginAnew(because: .offsetBeyond(sent: sent, acknowledged: acknowledged), orElse: error)
    case .noOffset(let status) where answer.fields.haveTusProof:
      // Perhaps something has removed it, once.
      guard history.hasHiddenOffset else {
        history.hasHiddenOffset = true
        throw .tus(error)
      }
      if history.stored == .unclear, !request.isForGigHive { throw .mayBeStored(.tus(error)) }
      try beginAnew(because: .noOffset(status: status), orElse: error)
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond, .noOffset,
      .nothingStored, .checksumMismatch, .locked, .interrupted, .startsOver, .lengthTruncated, .cachedOffset,
      .contentRefused, .requestsStopped, .lengthDiffers, .createdForAnother, .createdUploadGone:
      throw .tus(error)
    }
  }

  /// An earlier process has begun the upload, and what the server says of it cannot be. Once, a new one is begun instead, after which the
  /// server is not trusted with the only copy.
  private func beginAnew(because reason: TusError.Contradiction, orElse error: TusError) throws(UploadError) {
    guard !history.hasCreated, !plan.previous.isServerDoubtful, !request.isCreated, upload.location != nil,
      request.isForGigHive || history.stored != .unclear
    else { throw .tus(error) }
    restart(noting: .disproved)
    history.hasCreated = true
    throw .tus(.startsOver(reason))
  }

  private func noteOffset(isNew: Bool) {
    switch upload.state {
    case .sending:
      history.offset = upload.confirmed
    case .complete: break
    default: return
    }
    if history.resumedFrom == nil { history.resumedFrom = isNew ? 0 : upload.confirmed }
    history.highestOffset = max(history.highestOffset, upload.progress)
  }

  /// Whether this status of a response to OPTIONS means that the server does not support tus.
  private static func rulesOutTus(_ status: Int) -> Bool {
    (status < 500 || status == 501) && status != 401 && status != 407 && !RetryPolicy.isTransient(status: status)
  }

  // MARK: GigHive's finalize call, which turns an upload into a recording

  private func finalize(uploadID: String) -> HTTPRequest {
    HTTPRequest(
      method: "POST", target: request.base.appending(GigHiveAPI.finalize),
      fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.finalizeContent(uploadID: uploadID, fields: request.fields)))
  }

  /// If the server does not support this check, the upload starts anyway, and finalize will tell.
  private func receiveToken(_ answer: Answer) throws(UploadError) {
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

  private func complete(_ sent: SentFile, isGone: Bool) {
    state = request.isForGigHive ? .finalizing(sent, isGone: isGone) : .done(Receipt(), sent)
  }

  private func receiveFinalize(_ answer: Answer, _ sent: SentFile, isGone: Bool) throws(UploadError) {
    let failure: UploadError
    history.isTaken = false
    do throws(UploadError) {
      guard case .receipt(let receipt) = try UploadConfirmation.ofGigHive(answer, sent: sent) else {
        throw .stillProcessing
      }
      state = .done(receipt, sent)
      return
    } catch { failure = error }
    switch Verdict.ofFinalize(answer) {
    case .gigHive(.guestTokenUnknown): throw .guestTokenRefused
    // The tus server does not know it, and it did not become a recording.
    case .gigHive(.uploadUnknown) where isGone, .gigHive(.uploadNotWritten) where isGone: return try startOver()
    case .gigHive(.uploadUnknown):
      state = .locating(sent)
      upload.locate()
      return
    case .gigHive(.uploadTaken): history.isTaken = true
    case .somebodyElse(status: 423), .gigHive(.refused(status: 423, _)): throw .tus(.locked)
    // As from a proxy that cannot reach the server for a moment.
    case .somebodyElse(let status) where status == 404 || status == 410: throw .notFromServer(status: status)
    case .gigHive, .tus, .somebodyElse: break
    }
    // The content on the server is not, or no longer, this recording.
    if failure.provesOtherContent { restart() }
    throw failure
  }

  /// Whether a gateway gave up a finalize call on which GigHive may still work: each further one would run beside it.
  private func isHeldUp(by error: UploadError) -> Bool {
    guard awaitsOutcome, case .refused(let status, _) = error else { return false }
    return status == 502 || status == 504
  }

  /// Finalize has failed for as long as it is repeated. If GigHive says that it has taken the upload's file, and the tus server no longer
  /// knows the upload, the recording is lost.
  /// - Returns: whether there is something else to do: to ask the tus server, or to start over.
  override func endFinalizing() throws(UploadError) -> Bool {
    guard history.isTaken, case .finalizing(let sent, let isGone) = state else { return false }
    if isGone {
      history.hasCreated = true
      try startOver()
    }
    // Not twice in a row: then the tus server still has it.
    history.wasLocated.toggle()
    guard history.wasLocated else { return false }
    state = .locating(sent)
    upload.locate()
    return true
  }
}

extension Limits {
  /// The pause after a gateway has given up a finalize call on which GigHive may still work, in milliseconds.
  static let finalizePauseMilliseconds: Int64 = 30_000
}
