/// Deletes a recording from GigHive.
struct DeleteTask: Sendable {
  private enum State: Sendable {
    /// `mayBeDone`: may the server have carried out an earlier request? It then does not know the token any more.
    case asking(mayBeDone: Bool)
    case deleted
  }

  private let request: HTTPRequest
  private var state: State

  /// - Parameter isRepeated: was the server asked before, without an answer?
  init(assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool) {
    var request = HTTPRequest(
      method: "POST", target: base.appending(GigHiveAPI.delete), fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.deleteContent(assetID: assetID, deleteToken: deleteToken)))
    request.isConfidential = true
    self.request = request
    state = .asking(mayBeDone: isRepeated)
  }

  /// May the recording be gone, although no answer says so?
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
    // What says 502 or 504 does not know what has become of the request.
    state = .asking(mayBeDone: mayBeDone || (interruption.sent != .none && interruption.error.leavesDeletionOpen))
  }
}

extension UploadError {
  /// Can a delete request that ended with it have been carried out?
  fileprivate var leavesDeletionOpen: Bool {
    if case .refused(let status, _) = self { return status >= 500 }
    return leavesOutcomeOpen
  }
}
