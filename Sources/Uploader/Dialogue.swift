import UploadCore

/// A request with what the protocol decides about it. The session adds who asks.
struct Request {
  var method: String
  var target: TargetURI
  var fields: [Field] = []
  /// nil for a request without content.
  var body: RequestBody?
  /// Is it worth a round trip to ask whether the content is wanted?
  var mayExpectContinue = false
  /// Is there a secret in the content, so that a redirection to another origin must not be followed?
  var isConfidential = false
}

/// What is asked of a server to get one thing done, request by request.
protocol Dialogue: AnyObject {
  /// The file that bodies are stretches of.
  var file: SourceFile? { get }
  /// Is given the file's bytes as they are sent.
  var digest: FileDigest? { get }
  /// Grows with everything that need not be done again after a failure.
  var progress: Int64 { get }

  /// What to do next. A request counts as under way from here on.
  func next() throws(UploadError) -> DialogueStep
  /// Another request, to be sent before the last one is answered; nil for none.
  func followUp() throws(UploadError) -> Request?
  /// Does a request that followed another one still make sense, after the other's answer?
  var followUpCounts: Bool { get }
  /// Takes the answer to the oldest request under way, which has gone out as a whole or was refused.
  /// - Parameters:
  ///   - target: who answered, which is not whom was asked after a redirection.
  ///   - milliseconds: how long it took from the request's last byte.
  func receive(_ response: Response, from target: TargetURI, afterMilliseconds milliseconds: Int64) throws(UploadError)
  /// The requests under way will not be answered, or the last answer was no use.
  /// - Parameters:
  ///   - arrived: bytes of their content that the other side has acknowledged at least.
  ///   - hasBegunBody: could any content have gone out?
  /// - Returns: false if nothing may be asked again.
  func interrupted(arrived: Int64, hasBegunBody: Bool) -> Bool
}

extension Dialogue {
  func followUp() throws(UploadError) -> Request? { nil }
  var followUpCounts: Bool { false }
}

enum DialogueStep {
  case ask(Request)
  /// Bytes of the file are needed first.
  case read(FileReading)
  case finished
}
