/// Ends an upload on a tus server (the termination extension).
///
/// An answer that does not prove to be the server's ends nothing: the upload's address is asked whether it is still there.
struct Cancelling: Sendable {
  private enum State: Sendable {
    case terminating
    /// Somebody said something. Is the upload there? `unsupported`: the answer was that uploads cannot be ended.
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

  func next() -> TaskStep {
    switch state {
    case .terminating: .ask(TusUpload.termination(of: location, overridesMethod: overridesMethod))
    case .locating: .ask(Request(method: "HEAD", target: location, fields: [TusFields.resumable]))
    case .ended(let isKept): .finished(.cancelled(isKept: isKept))
    }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    let verdict = Verdict.ofTus(status: answer.status, fields: answer.fields)
    switch state {
    case .terminating: try receiveTermination(answer, verdict)
    case .locating(let error, let unsupported): try receiveLocation(answer, verdict, error, unsupported: unsupported)
    case .ended: break
    }
  }

  private mutating func receiveTermination(_ answer: Answer, _ verdict: Verdict) throws(UploadError) {
    switch verdict {
    case .tus(.success), .tus(.offset), .tus(.gone): state = .ended(isKept: false)
    case .tus(.refused(status: 405)), .tus(.refused(status: 501)): state = .ended(isKept: true)
    // A DELETE has no offset: 409 can only be a lock.
    case .tus(.locked), .tus(.conflict): throw .tus(.locked)
    case .somebodyElse(let status) where [404, 405, 410, 501].contains(status) || answer.isSuccess:
      state = .locating(.notFromServer(status: status), unsupported: status == 405 || status == 501)
    case .tus, .gigHive, .somebodyElse: throw answer.refusal
    }
  }

  private mutating func receiveLocation(
    _ answer: Answer, _ verdict: Verdict, _ error: UploadError, unsupported: Bool
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
struct Deleting: Sendable {
  private enum State: Sendable {
    /// `mayBeDone`: may the server have carried out an earlier request? It then does not know the token any more.
    case asking(mayBeDone: Bool)
    case deleted
  }

  private let request: Request
  private var state: State

  /// - Parameter isRepeated: was the server asked before, without an answer?
  init(assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool) {
    var request = Request(
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
