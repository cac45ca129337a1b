extension UploadMachine {
  package enum State: Equatable, Sendable {
    /// The task decides what comes next.
    case deciding
    case hashing
    /// One or two requests in flight, oldest first. Each as it was sent: after redirects, not as the task meant it.
    case inFlight(first: HTTPRequest, second: HTTPRequest?)
    /// The same, with the end of the file held back, because the file may have changed and must be read again.
    case holding(first: HTTPRequest, second: HTTPRequest?)
    /// The file is being read again.
    case rereading(first: HTTPRequest, second: HTTPRequest?)
    /// The server refused credentials that it accepted before.
    case renewingCredentials(Answer, of: HTTPRequest)
    /// An attempt failed. Time decides whether there is another one, if sending again is safe (`mayRepeat`).
    case failing(UploadError, mayRepeat: Bool)
    /// A failed attempt is to be reported.
    case retrying(Retry)
    case waiting(untilMilliseconds: Int64)
    case finished(Outcome)
    case failed(UploadError)
  }
}
