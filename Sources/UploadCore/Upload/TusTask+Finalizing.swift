/// GigHive's finalize call, which turns an upload into a recording.
extension TusTask {
  func finalize(uploadID: String) -> HTTPRequest {
    HTTPRequest(
      method: "POST", target: request.base.appending(GigHiveAPI.finalize),
      fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.finalizeContent(uploadID: uploadID, fields: request.fields)))
  }

  /// If the server does not support this check, the upload starts anyway, and finalize will tell.
  mutating func receiveToken(_ answer: Answer) throws(UploadError) {
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

  mutating func complete(_ sent: SentFile, isGone: Bool) {
    state = request.isForGigHive ? .finalizing(sent, isGone: isGone) : .done(Receipt(), sent)
  }

  mutating func receiveFinalize(_ answer: Answer, _ sent: SentFile, isGone: Bool) throws(UploadError) {
    let failure: ConfirmationFailure
    history.isTaken = false
    do throws(ConfirmationFailure) {
      let receipt = try UploadConfirmation.fromGigHive(status: answer.status, content: answer.content, sent: sent)
      state = .done(receipt, sent)
      return
    } catch { failure = error }
    let error = UploadError(failure)
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
    if error.provesOtherContent { restart() }
    throw error
  }

  /// Whether a gateway gave up a finalize call on which GigHive may still work: each further one would run beside it.
  func isHeldUp(by error: UploadError) -> Bool {
    guard awaitsOutcome, case .refused(let status, _) = error else { return false }
    return status == 502 || status == 504
  }

  /// Finalize has failed for as long as it is repeated. If GigHive says that it has taken the upload's file, and the tus server no longer
  /// knows the upload, the recording is lost.
  /// - Returns: whether there is something else to do: to ask the tus server, or to start over.
  mutating func endFinalizing() throws(UploadError) -> Bool {
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
