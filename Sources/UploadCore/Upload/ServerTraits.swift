/// What the servers of one upload have shown about their behaviour.
struct ServerTraits: Sendable {
  enum Authorization: Equatable, Sendable {
    /// No response has shown yet whether the credentials are valid.
    case untried
    case accepted
    /// They were accepted, then refused, and have been read again, which is done once between two steps of progress.
    case renewed
  }

  enum ConnectionReuse: Equatable, Sendable {
    case used
    /// A reused connection was lost during a request.
    case suspect
    /// The server closes connections without notice.
    case avoided
  }

  /// Whether no server has refused `Expect: 100-continue`.
  private(set) var mayExpectContinue = true
  private(set) var authorization = Authorization.untried
  private(set) var connectionReuse = ConnectionReuse.used
  var redirects = Redirects()
  private var highestProgress: Int64 = 0

  mutating func expectationFailed() { mayExpectContinue = false }

  mutating func succeeded() {
    if authorization == .untried { authorization = .accepted }
  }

  /// A response was useful.
  /// - Parameter progress: grows as the upload progresses. Earlier losses then no longer count.
  mutating func requestAnswered(progress: Int64) {
    redirects.requestAnswered(progress: progress)
    guard progress > highestProgress else { return }
    highestProgress = progress
    // A token lasts for a while: what was stored since was sent with valid ones.
    if authorization == .renewed { authorization = .accepted }
    if connectionReuse == .suspect { connectionReuse = .used }
  }

  mutating func renew() { authorization = .renewed }

  /// Whether the server closed the connection before the request arrived, so that repeating it on another one is not a failure.
  /// Without an announcement by the server this applies once: from then on no connection is reused.
  mutating func forgive(_ interruption: Interruption) -> Bool {
    guard case .connectionLost = interruption.error else { return false }
    switch interruption.staleness {
    case .fresh: return false
    case .announced: return true
    case .used where connectionReuse == .avoided: return false
    case .used(let hasSentLittle):
      let isTolerated = hasSentLittle || connectionReuse == .suspect
      connectionReuse = isTolerated ? .avoided : .suspect
      return isTolerated
    }
  }

  func connection(for request: HTTPRequest) -> ConnectionChoice {
    if connectionReuse == .avoided { return .fresh }
    return request.isRepeatable ? .reused : .reusedIfPromised
  }
}
