/// One recording as multipart/form-data: a POST, and for GigHive queries about a recording that it is still processing.
///
///     posting ──▶ verifying ──▶ stored
///        ▲          │   ▲
///        │          ▼   │
///     recalling ──▶ asking (the state of the asset on GigHive)
final class MultipartTask: UploadTask {
  private enum State: Sendable {
    /// An earlier process has sent the form. The file is read for its SHA-256.
    case recalling(assetID: Int64)
    case posting
    /// The response has arrived, and is compared with the file's SHA-256.
    case verifying(Answer)
    /// GigHive has the recording but has not processed it yet. What an earlier process sent may be gone.
    case asking(assetID: Int64, SentFile, isRecalled: Bool)
    /// GigHive is processing the recording, but did not return its number.
    case unnumbered
    case stored(Receipt, SentFile)
  }

  private let request: UploadRequest
  private let size: Int64
  private let boundary: Boundary
  private let provesServer: Bool
  private var state: State
  private var stored = StoredDoubt.none

  init(_ plan: UploadPlan) {
    request = plan.request
    size = plan.size
    boundary = plan.boundary
    provesServer = plan.provesServer
    state = .posting
    if request.isForGigHive, let assetID = plan.previous.assetID { state = .recalling(assetID: assetID) }
  }

  override var progress: Int64 {
    switch state {
    case .recalling, .posting, .verifying: 0
    case .asking, .unnumbered: 1
    case .stored: 2
    }
  }

  override var isVerifying: Bool {
    if case .verifying = state { true } else { false }
  }

  override var awaitsOutcome: Bool {
    switch state {
    case .recalling, .posting, .unnumbered: false
    case .verifying, .asking, .stored: true
    }
  }

  override func next() throws(UploadError) -> TaskStep {
    switch state {
    case .posting, .unnumbered: return .ask(try post())
    case .recalling, .verifying: return .hash(.wholeFile)
    case .asking(let assetID, _, _):
      return .ask(GigHiveAPI.question(about: assetID, at: request.base))
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: 0))
    }
  }

  private func post() throws(UploadError) -> HTTPRequest {
    do throws(FormDataError) {
      var post = HTTPRequest(
        method: "POST", target: request.multipartTarget,
        fields: [Field("Content-Type", FormData.contentType(boundary))],
        body: try FormData.body(
          fields: request.fields, file: request.filePart, fileLength: size, boundary: boundary))
      post.mayExpectContinue = true
      post.isRepeatable = request.isForGigHive
      post.announcesLastByte = !request.isForGigHive
      return post
    } catch { throw .formData(error) }
  }

  // MARK: Responses

  override func isPortals(_ answer: Answer) -> Bool {
    request.isForGigHive
      ? LikelySoftware.isLoginInstead(answer) : LikelySoftware.isPortals(answer, unless: provesServer)
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    switch state {
    case .posting:
      // A response to a part of the recording confirms nothing.
      if request.computesSHA256, answer.sent == .whole {
        state = .verifying(answer)
      } else {
        try judge(answer, sha256: nil)
      }
    case .asking(let assetID, let sent, let isRecalled):
      if isRecalled, case .gigHive(.absent) = Verdict.ofRecording(answer) {
        save(.forgotten)
        state = .posting
      } else {
        try receiveRecording(answer, assetID, sent)
      }
    case .recalling, .verifying, .unnumbered, .stored: break
    }
  }

  override func hashed(_ result: HashResult) throws(UploadError) {
    guard case .wholeFile(let sha256, _, _) = result else { return }
    switch state {
    case .recalling(let assetID):
      state = .asking(assetID: assetID, SentFile(size: size, sha256: sha256), isRecalled: true)
    case .verifying(let answer): try judge(answer, sha256: sha256)
    case .posting, .asking, .unnumbered, .stored: break
    }
  }

  private func judge(_ answer: Answer, sha256: String?) throws(UploadError) {
    state = .posting
    if !request.isForGigHive {
      if let problem = LikelySoftware.problemOfPHP(answer) { throw problem }
      // The server's own page can follow a form that it has stored.
      let isUnclear = answer.isSuccess || answer.status == 511
      if isUnclear, LikelySoftware.isFailure(answer) { throw .unconfirmed(status: answer.status) }
    }
    let sent = SentFile(size: size, sha256: sha256)
    guard request.isForGigHive else {
      var receipt = try UploadConfirmation.ofPlainEndpoint(answer, sent: sent)
      receipt.isUnprovedPage = !provesServer && LikelySoftware.mayBeStrangers(answer)
      // As Immich says it.
      receipt.wasAlreadyThere = (try? JSONReader.read(answer.content))?["status"]?.string == "duplicate"
      state = .stored(receipt, sent)
      return
    }
    switch try UploadConfirmation.ofGigHive(answer, sent: sent) {
    case .receipt(let receipt): state = .stored(receipt, sent)
    case .pending(let assetID):
      state = assetID.map { .asking(assetID: $0, sent, isRecalled: false) } ?? .unnumbered
      if let assetID { save(.processing(assetID: assetID)) }
      throw .stillProcessing
    }
  }

  private func receiveRecording(_ answer: Answer, _ assetID: Int64, _ sent: SentFile) throws(UploadError) {
    guard case .gigHive(.recording(let checksum?, let size?, _)) = Verdict.ofRecording(answer) else {
      guard answer.isSuccess || answer.status == 404 else { throw answer.refusal }
      throw .stillProcessing
    }
    var receipt = Receipt()
    receipt.assetID = assetID
    try UploadConfirmation.compare(checksum: checksum, size: size, with: sent, &receipt)
    state = .stored(receipt, sent)
  }

  /// The last byte is about to be sent. If the process is killed before the response arrives, the record says what may have happened.
  override func lastByteNext() {
    stored = .announced
    save(.mayBeStored)
  }

  /// GigHive detects duplicates. Other endpoints may not: once any part of the recording may have reached them, sending it
  /// again could store it twice.
  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    if case .verifying = state { state = .posting }
    // Sending everything again just to ask would be too expensive.
    if case .unnumbered = state { return .forbidden }
    if request.isForGigHive { return .allowed }
    let safety = safetyOfRepeating(after: interruption)
    if stored != .none, safety == .allowed {
      stored = .none
      save(.notStored)
    }
    return safety
  }

  private func safetyOfRepeating(after interruption: Interruption) -> RetrySafety {
    if case .notFromServer = interruption.error { return .allowed }
    return switch interruption.sent {
    case .none: .allowed
    case .partial: .forbidden
    case .whole: mayBeStored(after: interruption.error) ? .couldStoreTwice : .forbidden
    }
  }

  /// Programs that take forms often answer with a redirect to another page of the same server, as PHP's 302. One that confirms
  /// another size or checksum has stored something, and one that asks for a login may have.
  private func mayBeStored(after error: UploadError) -> Bool {
    if error.provesOtherContent { return true }
    if case .unconfirmed = error { return true }
    if case .redirected(status: 302, _) = error { return !error.isStrangers(host: request.base.host) }
    return error.traits.leavesOutcomeOpen
  }

  /// A 303 may confirm the upload, as with S3's POST policy, which says so in the query.
  override func takeConfirmation(by location: String, _ answer: Answer) throws(UploadError) -> Bool {
    guard case .posting = state, answer.status == 303, answer.sent == .whole, !request.isForGigHive,
      UploadConfirmation.isConfirmationByS3(location)
    else { return false }
    try receive(
      Answer(
        status: 200, sent: answer.sent, afterMilliseconds: answer.afterMilliseconds,
        receivedAtSeconds: answer.receivedAtSeconds))
    return true
  }

  override var doubt: StoredDoubt { stored }

  override func mayBeStored(afterLocal error: UploadError) -> Bool { stored != .none }

  override var sendsWhole: Bool { true }

  override var answered: AnsweredRequest { request.isForGigHive ? .gigHiveForm : .otherForm }
}
