import UploadCore

/// One request without a file, which can be repeated without harm.
final class SingleRequest: Dialogue {
  let file: SourceFile? = nil
  let digest: FileDigest? = nil
  let progress: Int64 = 0
  private let request: Request
  private let accepts: Accepts
  private var isDone = false
  private var isAnswered = false
  /// Can the server have carried out the request, and its answer been lost?
  private(set) var mayBeDone = false

  /// Is the answer a success?
  typealias Accepts = (_ response: Response, _ mayBeDone: Bool) throws(UploadError) -> Bool

  init(_ request: Request, accepts: @escaping Accepts) {
    self.request = request
    self.accepts = accepts
  }

  func next() -> DialogueStep { isDone ? .finished : .ask(request) }

  func receive(_ response: Response, from: TargetURI, afterMilliseconds: Int64) throws(UploadError) {
    // What says 502 or 504 does not know what has become of the request.
    isAnswered = response.status < 500
    guard try accepts(response, mayBeDone) else { throw try response.refusal() }
    isDone = true
  }

  func interrupted(arrived: Int64, hasBegunBody: Bool) -> Bool {
    mayBeDone = mayBeDone || (hasBegunBody && !isAnswered)
    isAnswered = false
    return true
  }
}
