/// How responses change the state of a recording sent over tus.
extension TusTask {
  mutating func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch state {
    case .locatingSuperseded(let location): receiveSuperseded(answer, at: location)
    case .removingSuperseded: leaveSuperseded()
    case .checkingToken: try receiveToken(answer)
    case .uploading, .locating: try receiveUpload(answer, target)
    case .finalizing(let sent, let isGone): try receiveFinalize(answer, sent, isGone: isGone)
    case .notSupported, .hashing, .done: break
    }
  }

  /// Only a part of a recording may be deleted: of the whole, the server may have the only copy.
  private mutating func receiveSuperseded(_ answer: Answer, at location: TargetURI) {
    guard case .tus(.offset(let offset)) = Verdict.ofTus(status: answer.status, fields: answer.fields),
      let length = answer.fields.tusNumber("Upload-Length"), offset < length
    else { return leaveSuperseded() }
    state = .removingSuperseded(location)
  }

  private mutating func receiveUpload(_ answer: Answer, _ target: TargetURI) throws(UploadError) {
    if !saysHowMuchIsStored(answer), upload.mayHaveSentLastByte(answer.sent) {
      history.mayBeWhole = true
      if answer.status >= 500 { history.refusalAtEnd = answer.refusal }
    }
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
    if upload.detours.found != detours { unsaved.append(.detours(upload.detours.found)) }
    if case .sending = state, upload.detours.refusal != nil { history.refusedPatch = answer.refusal }
  }

  /// The upload may be at another URL than the server says, or nowhere.
  private mutating func noteMove(from before: TargetURI) {
    guard upload.location != before else { return }
    unsaved.append(upload.location.map { .moved(location: $0.text) } ?? .forgotten)
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
  private mutating func receive(
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
    case .notSupported, .refused: throw answer.refusal
    case .offsetBeyond(let sent, let acknowledged) where answer.fields.haveTusProof:
      try beginAnew(because: .offsetBeyond(sent: sent, acknowledged: acknowledged), orElse: error)
    case .noOffset(let status) where answer.fields.haveTusProof:
      // Perhaps something has removed it, once.
      guard history.hasHiddenOffset else {
        history.hasHiddenOffset = true
        throw .tus(error)
      }
      if history.mayBeWhole, !request.isForGigHive { throw .mayBeStored(.tus(error)) }
      try beginAnew(because: .noOffset(status: status), orElse: error)
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond, .noOffset,
      .nothingStored, .checksumMismatch, .locked, .interrupted, .startsOver, .lengthTruncated, .cachedOffset,
      .contentRefused, .requestsStopped:
      throw .tus(error)
    }
  }

  /// An earlier process has begun the upload, and what the server says of it cannot be. Once, a new one is begun instead, after which the
  /// server is not trusted with the only copy.
  private mutating func beginAnew(because reason: TusError.Contradiction, orElse error: TusError) throws(UploadError) {
    guard !history.hasCreated, !plan.previous.isServerDoubtful, upload.location != nil,
      request.isForGigHive || !history.mayBeWhole
    else { throw .tus(error) }
    restart(noting: .disproved)
    history.hasCreated = true
    throw .tus(.startsOver(reason))
  }

  private mutating func noteOffset(isNew: Bool) {
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
}
