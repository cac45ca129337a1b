/// Ends an upload on a tus server (the termination extension).
///
/// A response that does not prove its origin ends nothing. Then a HEAD asks whether the upload is still there.
struct CancelTask: Sendable {
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

  func next() -> TaskStep {
    switch state {
    case .terminating: .ask(TusUpload.termination(of: location, overridesMethod: overridesMethod))
    case .locating: .ask(HTTPRequest(method: "HEAD", target: location, fields: [TusFields.resumable]))
    case .ended(let isKept): .finished(.cancelled(isKept: isKept))
    }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    let verdict = Verdict.ofTus(status: answer.status, fields: answer.fields)
    switch state {
    case .terminating: try receiveTermination(answer, verdict)
    case .locating(let error, let unsupported): try receiveLocation(verdict, error, unsupported: unsupported)
    case .ended: break
    }
  }

  private mutating func receiveTermination(_ answer: Answer, _ verdict: Verdict) throws(UploadError) {
    switch verdict {
    case .tus(.success), .tus(.offset), .tus(.gone): state = .ended(isKept: false)
    case .tus(.refused(status: 405)), .tus(.refused(status: 501)): state = .ended(isKept: true)
    // A DELETE has no offset, so a 409 can only be a lock.
    case .tus(.locked), .tus(.conflict): throw .tus(.locked)
    case .somebodyElse(let status) where [404, 405, 410, 501].contains(status) || answer.isSuccess:
      state = .locating(.notFromServer(status: status), unsupported: status == 405 || status == 501)
    case .tus, .gigHive, .somebodyElse: throw answer.refusal
    }
  }

  private mutating func receiveLocation(
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
