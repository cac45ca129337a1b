/// Deletes a recording from GigHive.
struct DeleteTask: Sendable {
  private enum State: Sendable {
    /// `mayBeDone`: whether the server may have carried out an earlier request. It then no longer knows the token.
    case asking(mayBeDone: Bool)
    case deleted
  }

  private let request: HTTPRequest
  private var state: State

  /// - Parameter isRepeated: whether the server was asked before, without a response.
  init(assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool) {
    var request = HTTPRequest(
      method: "POST", target: base.appending(GigHiveAPI.delete), fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.deleteContent(assetID: assetID, deleteToken: deleteToken)))
    request.isConfidential = true
    self.request = request
    state = .asking(mayBeDone: isRepeated)
  }

  /// Whether the recording may be gone, although no response says so.
  var mayBeDone: Bool {
    if case .asking(let mayBeDone) = state { mayBeDone } else { true }
  }

  func next() -> TaskStep {
    if case .deleted = state { .finished(.deleted) } else { .ask(request) }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    switch Verdict.ofDeletion(answer) {
    case .gigHive(.absent): state = .deleted
    case .gigHive(.deleteTokenUnknown) where mayBeDone: state = .deleted
    case .gigHive(.refused(let status, let message)): throw .refused(status: status, message: message)
    case .somebodyElse(let status) where answer.isSuccess: throw .unconfirmed(status: status)
    case .somebodyElse(let status) where status == 404 || status == 410: throw .notFromServer(status: status)
    case .gigHive, .tus, .somebodyElse: throw answer.refusal
    }
  }

  mutating func interrupted(_ interruption: Interruption) {
    guard case .asking(let mayBeDone) = state else { return }
    // A gateway that answers 502 or 504 does not know the outcome of the request.
    state = .asking(mayBeDone: mayBeDone || (interruption.sent != .none && interruption.error.leavesDeletionOpen))
  }
}

extension UploadError {
  /// Whether a delete request that ended with this error may have been carried out.
  fileprivate var leavesDeletionOpen: Bool {
    if case .refused(let status, _) = self { return status >= 500 && status != 511 }
    return leavesOutcomeOpen
  }
}
