/// Ends an upload on a tus server (the termination extension).
///
/// A response that does not prove its origin ends nothing. Then a HEAD asks whether the upload is still there.
final class CancelTask: UploadTask {
  private enum State: Sendable {
    case terminating
    /// Ask whether the upload is still there, after a response without proof. `unsupported`: it said that uploads cannot be
    /// ended.
    case locating(UploadError, unsupported: Bool)
    case ended(isKept: Bool)
  }

  private let location: TargetURI
  private let overridesMethod: Bool
  private var state = State.terminating

  init(_ location: TargetURI, overridesMethod: Bool) {
    self.location = location
    self.overridesMethod = overridesMethod
  }

  override func next() -> TaskStep {
    switch state {
    case .terminating: .ask(TusUpload.termination(of: location, overridesMethod: overridesMethod))
    case .locating: .ask(TusUpload.head(of: location))
    case .ended(let isKept): .finished(.cancelled(isKept: isKept))
    }
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    let verdict = Verdict.ofTus(status: answer.status, fields: answer.fields)
    switch state {
    case .terminating: try receiveTermination(answer, verdict)
    case .locating(let error, let unsupported):
      try receiveLocation(
        answer.isFresh ? verdict : .somebodyElse(status: answer.status), error, unsupported: unsupported)
    case .ended: break
    }
  }

  private func receiveTermination(_ answer: Answer, _ verdict: Verdict) throws(UploadError) {
    switch verdict {
    case _ where verdict.provesEnd: state = .ended(isKept: false)
    case .tus(.refused(status: 405)), .tus(.refused(status: 501)): state = .ended(isKept: true)
    // A DELETE has no offset, so a 409 can only be a lock.
    case .tus(.locked), .tus(.conflict): throw .tus(.locked)
    case .somebodyElse(let status) where [404, 405, 410, 501].contains(status) || answer.isSuccess:
      state = .locating(.notFromServer(status: status), unsupported: status == 405 || status == 501)
    case .tus, .gigHive, .somebodyElse: throw answer.refusal
    }
  }

  private func receiveLocation(
    _ verdict: Verdict, _ error: UploadError, unsupported: Bool
  ) throws(UploadError) {
    switch verdict {
    case .tus(.gone): state = .ended(isKept: false)
    case .tus(.offset) where unsupported: state = .ended(isKept: true)
    case .tus, .gigHive, .somebodyElse:
      state = .terminating
      throw error
    }
  }
}

/// Deletes a recording from GigHive.
final class DeleteTask: UploadTask {
  private enum State: Sendable {
    /// `mayBeDone`: whether the server may have carried out an earlier request. It then no longer knows the token.
    case asking(mayBeDone: Bool)
    /// The server does not know the token: it may be wrong, or the recording gone. Contains the refusal.
    case checking(UploadError)
    case deleted(wasGone: Bool)
  }

  private let request: HTTPRequest
  private let question: HTTPRequest
  private var state: State

  /// - Parameter isRepeated: whether the server was asked before, without a response.
  init(assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool) {
    var request = HTTPRequest(
      method: "POST", target: base.appending(GigHiveAPI.delete), fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.deleteContent(assetID: assetID, deleteToken: deleteToken)))
    request.isConfidential = true
    self.request = request
    question = GigHiveAPI.question(about: assetID, at: base)
    state = .asking(mayBeDone: isRepeated)
  }

  /// Whether the recording may be gone, although no response says so.
  override var mayBeDeleted: Bool {
    switch state {
    case .asking(let mayBeDone): mayBeDone
    case .checking: false
    case .deleted: true
    }
  }

  override func next() -> TaskStep {
    switch state {
    case .asking: .ask(request)
    case .checking: .ask(question)
    case .deleted(let wasGone): .finished(.deleted(wasGone: wasGone))
    }
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    if case .checking(let refusal) = state {
      guard case .gigHive(.absent) = Verdict.ofRecording(answer), answer.isFresh else { throw refusal }
      state = .deleted(wasGone: true)
      return
    }
    switch Verdict.ofDeletion(answer) {
    case .gigHive(.absent): state = .deleted(wasGone: false)
    case .gigHive(.deleteTokenUnknown): state = mayBeDeleted ? .deleted(wasGone: false) : .checking(answer.refusal)
    case .gigHive(.refused(let status, let message)): throw .refused(status: status, message: message)
    case .somebodyElse(let status) where answer.isSuccess: throw .unconfirmed(status: status)
    case .somebodyElse(let status) where status == 404 || status == 410: throw .notFromServer(status: status)
    case .gigHive, .tus, .somebodyElse: throw answer.refusal
    }
  }

  override func isPortals(_ answer: Answer) -> Bool { LikelySoftware.isLoginInstead(answer) }

  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    // A gateway that answers 502 or 504 does not know the outcome of the request.
    if case .asking(false) = state, interruption.sent != .none, interruption.error.traits.leavesOutcomeOpen {
      state = .asking(mayBeDone: true)
    }
    return .allowed
  }
}
