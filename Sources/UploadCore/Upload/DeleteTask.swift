/// Deletes a recording from GigHive.
struct DeleteTask: Sendable {
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
  var mayBeDone: Bool {
    switch state {
    case .asking(let mayBeDone): mayBeDone
    case .checking: false
    case .deleted: true
    }
  }

  func next() -> TaskStep {
    switch state {
    case .asking: .ask(request)
    case .checking: .ask(question)
    case .deleted(let wasGone): .finished(.deleted(wasGone: wasGone))
    }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    if case .checking(let refusal) = state {
      guard case .gigHive(.absent) = Verdict.ofRecording(answer), answer.isFresh else { throw refusal }
      state = .deleted(wasGone: true)
      return
    }
    switch Verdict.ofDeletion(answer) {
    case .gigHive(.absent): state = .deleted(wasGone: false)
    case .gigHive(.deleteTokenUnknown): state = mayBeDone ? .deleted(wasGone: false) : .checking(answer.refusal)
    case .gigHive(.refused(let status, let message)): throw .refused(status: status, message: message)
    case .somebodyElse(let status) where answer.isSuccess: throw .unconfirmed(status: status)
    case .somebodyElse(let status) where status == 404 || status == 410: throw .notFromServer(status: status)
    case .gigHive, .tus, .somebodyElse: throw answer.refusal
    }
  }

  mutating func interrupted(_ interruption: Interruption) {
    guard case .asking(let mayBeDone) = state else { return }
    // A gateway that answers 502 or 504 does not know the outcome of the request.
    state = .asking(mayBeDone: mayBeDone || (interruption.sent != .none && interruption.error.traits.leavesOutcomeOpen))
  }
}
