/// What the servers of one upload have shown of how they want to be talked to.
struct ServerTraits: Sendable {
  enum Authorization: Equatable, Sendable {
    /// No answer has shown yet whether the credentials are good.
    case untried
    /// They were good.
    case accepted
    /// They were good and are not any more; others were looked for, once.
    case renewed
  }

  enum ConnectionReuse: Equatable, Sendable {
    case used
    /// One was lost in the middle of a request.
    case suspect
    /// The server closes connections without saying so.
    case avoided
  }

  /// Has no server refused `Expect: 100-continue`?
  private(set) var mayExpectContinue = true
  private(set) var authorization = Authorization.untried
  private(set) var connectionReuse = ConnectionReuse.used
  var redirects = Redirects()
  private var settledProgress: Int64 = 0

  mutating func expectationFailed() { mayExpectContinue = false }

  /// A request was answered with success.
  mutating func succeeded() {
    if authorization == .untried { authorization = .accepted }
  }

  /// An answer was of use.
  /// - Parameter progress: grows as the upload gets further; what was lost before then counts no more.
  mutating func settle(progress: Int64) {
    redirects.settle(progress: progress)
    guard progress > settledProgress else { return }
    settledProgress = progress
    if connectionReuse == .suspect { connectionReuse = .used }
  }

  mutating func renew() { authorization = .renewed }

  /// Was the connection closed by the server before the request came, so that repeating it on another one is no failure?
  /// Where the server did not announce that, it is granted once: from then on no connection is used again.
  mutating func excuses(_ interruption: Interruption) -> Bool {
    guard case .connectionLost = interruption.error else { return false }
    switch interruption.connection {
    case .fresh: return false
    case .announced: return true
    case .used where connectionReuse == .avoided: return false
    case .used(let hasSentLittle):
      let isExcused = hasSentLittle || connectionReuse == .suspect
      connectionReuse = isExcused ? .avoided : .suspect
      return isExcused
    }
  }

  func connection(for request: HTTPRequest) -> ConnectionChoice {
    if connectionReuse == .avoided { return .fresh }
    return request.reuse == .promised ? .reusedIfPromised : .reused
  }
}
