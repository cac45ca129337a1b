import UploadCore

/// One request without a file, which can be repeated without harm.
final class SingleRequest: Dialogue {
  let file: SourceFile? = nil
  let digest: FileDigest? = nil
  let progress: Int64 = 0
  private let request: Request
  private let accepts: (_ status: Int, _ wasInterrupted: Bool) -> Bool
  private var isDone = false
  /// Can the server have carried out the request, and its answer been lost?
  private var wasInterrupted = false

  /// - Parameter accepts: which statuses are a success.
  init(_ request: Request, accepts: @escaping (_ status: Int, _ wasInterrupted: Bool) -> Bool) {
    self.request = request
    self.accepts = accepts
  }

  func next() -> DialogueStep { isDone ? .finished : .ask(request) }

  func receive(_ response: Response, from: TargetURI, afterMilliseconds: Int64) throws(UploadError) {
    guard accepts(response.status, wasInterrupted) else { throw try response.refusal() }
    isDone = true
  }

  func interrupted(arrived: Int64, hasBegunBody: Bool) -> Bool {
    wasInterrupted = wasInterrupted || hasBegunBody
    return true
  }
}
