import CShims
import UploadCore

/// Another try that is about to be made.
public struct Retry: Sendable {
  /// What the last try ended with.
  public let error: UploadError
  /// How many tries have failed since the last progress.
  public let failures: Int64
  /// How long is waited before the next try.
  public let delayMilliseconds: Int64
}

/// Leads a dialogue with a server to its end: connects, asks, waits, and tries again.
final class Session: Machine {
  private enum Activity {
    case choosing
    case connecting(Connector)
    case transferring(Transfer)
    case reading(FileReading)
    case waiting(untilMilliseconds: Int64)
    case finished
  }

  private let dialogue: any Dialogue
  private let lane: Lane
  private let configuration: Configuration
  private let tls: TLSSource
  private let pace: Pace?
  private let hooks: SessionHooks
  private var composer: RequestComposer
  private var redirections = Redirections()
  private var hasRefreshedCredentials = false
  private var hasBeenLetIn = false
  private var activity = Activity.choosing
  private var request: Request?
  private var hasExpected = false
  private var connection: Connection?
  /// Was the connection used before, so that the server may have closed it meanwhile?
  private var isReused = false
  /// The progress when a kept connection turned out to be closed: that is not forgiven again before there is more.
  private var progressAtStale: Int64?
  private var failures: Int64 = 0
  private var progressAtFailure: Int64 = 0
  private var retryAfterMilliseconds: Int64?
  /// When the first step was made, on the monotonic clock, and when the last one was.
  private(set) var startedAt: Int64?
  private(set) var now: Int64 = 0

  /// - Parameters:
  ///   - origin: whom the credentials are for.
  ///   - startedAt: when what it goes on with was begun, on the monotonic clock.
  ///   - secret: what is not shown, besides the credentials.
  init(
    _ dialogue: any Dialogue, origin: String, lane: Lane, configuration: Configuration, tls: TLSSource,
    pace: Pace? = nil, hooks: SessionHooks = SessionHooks(), startedAt: Int64? = nil, secret: String? = nil
  ) {
    self.dialogue = dialogue
    self.lane = lane
    self.configuration = configuration
    self.tls = tls
    self.pace = pace
    self.hooks = hooks
    self.startedAt = startedAt
    composer = RequestComposer(configuration, origin: origin)
    if let secret { composer.hide(secret) }
  }

  /// Has the request at work gone out as a whole?
  var hasSentAll: Bool {
    if case .transferring(let transfer) = activity { transfer.hasSentAll } else { false }
  }

  /// Bytes of the content under way that the other side has acknowledged.
  var arrived: Int64 {
    if case .transferring(let transfer) = activity { transfer.arrived } else { 0 }
  }

  // MARK: The step

  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait? {
    now = nowMilliseconds
    startedAt = startedAt ?? now
    try checkTotal()
    var ready = ready
    while true {
      do throws(UploadError) {
        if var wait = try go(ready) {
          if let end { wait.untilMilliseconds = min(wait.untilMilliseconds, end) }
          return wait
        }
      } catch {
        try recover(from: error.blanked(composer.secrets))
      }
      if case .finished = activity { return nil }
      ready = []
    }
  }

  /// When the whole of it must have ended.
  private var end: Int64? { configuration.timeouts.totalMilliseconds.map { (startedAt ?? now) + $0 } }

  private func checkTotal() throws(UploadError) {
    guard let end, let limit = configuration.timeouts.totalMilliseconds, now >= end else { return }
    throw .timedOut(.delivering, peer: composer.origin, limitMilliseconds: limit)
  }

  /// - Returns: nil if the activity has changed.
  private func go(_ ready: Readiness) throws(UploadError) -> Wait? {
    switch activity {
    case .choosing:
      try choose()
    case .connecting(let connector):
      if let wait = try connector.step(ready, nowMilliseconds: now) { return wait }
      guard let connection = connector.connection else { preconditionFailure("a connector that ended without one") }
      isReused = false
      try transfer(over: connection)
    case .transferring(let transfer):
      if let wait = try transfer.step(ready, nowMilliseconds: now) { return wait }
      guard !transfer.isVoid else { return abandon() }
      try takeAnswer(of: transfer)
    case .reading(let reading):
      if let wait = try reading.step(ready, nowMilliseconds: now) { return wait }
      activity = .choosing
    case .waiting(let until):
      if now < until { return Wait(descriptor: -1, readiness: [], untilMilliseconds: until) }
      activity = .choosing
    case .finished: break
    }
    return nil
  }

  private func choose() throws(UploadError) {
    switch try dialogue.next() {
    case .finished: activity = .finished
    case .read(let reading): activity = .reading(reading)
    case .ask(var request):
      request.target = redirections.target(for: request.target)
      self.request = request
      if let connection = lane.takeConnection(to: request.target) {
        isReused = true
        return try transfer(over: connection)
      }
      let context = try tls.context(for: request.target)
      activity = .connecting(Connector(to: request.target, configuration: configuration, tls: context))
    }
  }

  private func transfer(over connection: Connection) throws(UploadError) {
    guard let request else { preconditionFailure("a connection for no request") }
    self.connection = connection
    let (head, outgoing) = try composer.compose(request)
    hasExpected = outgoing.exchange.expectsContinue
    let diagnostics = Diagnostics(tell: configuration.diagnostics, secrets: composer.secrets)
    diagnostics.show(head)
    var transferHooks = TransferHooks(onProgress: hooks.onProgress)
    let (dialogue, composer, redirections) = (dialogue, composer, redirections)
    transferHooks.followUp = { () throws(UploadError) in
      guard var request = try dialogue.followUp() else { return nil }
      request.target = redirections.target(for: request.target)
      let (head, outgoing) = try composer.compose(request)
      diagnostics.show(head)
      return outgoing
    }
    transferHooks.onEarlierAnswer = { (response, milliseconds) throws(UploadError) -> Bool in
      diagnostics.show(response)
      try dialogue.receive(response, from: request.target, afterMilliseconds: milliseconds)
      return dialogue.followUpCounts
    }
    activity = .transferring(
      Transfer(
        outgoing, of: dialogue.file, digest: dialogue.digest, over: connection, buffers: lane.buffers,
        timeouts: configuration.timeouts, pace: pace, hooks: transferHooks))
  }

  /// Gives the connection up, with a request on it that makes no sense any more.
  private func abandon() -> Wait? {
    _ = dialogue.interrupted(arrived: 0, hasBegunBody: true)
    connection = nil
    activity = .choosing
    return nil
  }

  // MARK: Answers

  private func takeAnswer(of transfer: Transfer) throws(UploadError) {
    guard let response = transfer.response, let connection, let request else {
      preconditionFailure("a transfer that ended without an answer")
    }
    Diagnostics(tell: configuration.diagnostics, secrets: composer.secrets).show(response)
    if transfer.canReuseConnection { lane.keep(connection, to: request.target) }
    self.connection = nil
    retryAfterMilliseconds = RetryAfter.milliseconds(response.head.fields, nowSeconds: shim_unix_seconds())
    let status = response.status
    if status == 417, hasExpected {
      // The same request once more.
      composer.mayExpectContinue = false
      if dialogue.interrupted(arrived: 0, hasBegunBody: false) {
        activity = .choosing
        return
      }
    }
    if status >= 300, status < 400 { return try follow(response, of: request) }
    if status < 300, !transfer.hasSentAll { throw .prematureSuccess(status: status) }
    if status == 401, try refreshCredentials() {
      activity = .choosing
      return
    }
    if status < 300 { hasBeenLetIn = true }
    try dialogue.receive(response, from: request.target, afterMilliseconds: transfer.answerMilliseconds)
    redirections.settle()
    activity = .choosing
  }

  /// Sends the request once more to where the server says (307 and 308 keep method and content; RFC 9110, 15.4).
  private func follow(_ response: Response, of request: Request) throws(UploadError) {
    let location = response.head.fields.first("Location") ?? "an address it does not name"
    guard response.status == 307 || response.status == 308 else {
      throw .redirected(status: response.status, location: location)
    }
    let target = try redirections.follow(from: request.target, to: location)
    if request.isConfidential, target.origin != composer.origin {
      throw .redirected(status: response.status, location: location)
    }
    guard dialogue.interrupted(arrived: 0, hasBegunBody: false) else {
      throw .redirected(status: response.status, location: location)
    }
    activity = .choosing
  }

  /// Credentials that were good before can have expired; the caller may have new ones. Once.
  /// - Returns: true if the request is to be repeated with others.
  private func refreshCredentials() throws(UploadError) -> Bool {
    guard hasBeenLetIn, !hasRefreshedCredentials, let fresh = configuration.refreshCredentials?() else { return false }
    hasRefreshedCredentials = true
    guard fresh.fields != composer.credentials.fields, dialogue.interrupted(arrived: 0, hasBegunBody: false) else {
      return false
    }
    composer.use(fresh)
    configuration.diagnostics?("* the server refuses the credentials; trying again with those that are there now")
    return true
  }

  // MARK: Failures

  /// Prepares another try, or throws what it cannot mend.
  private func recover(from error: UploadError) throws(UploadError) {
    var arrived: Int64 = 0
    var hasBegunBody = false
    var isStale = false
    if case .transferring(let transfer) = activity {
      arrived = transfer.arrived
      hasBegunBody = transfer.hasBegunBody
      // A server can close a connection just before it is used again, or behind an answer with the next request under way.
      let isNew = progressAtStale.map { dialogue.progress > $0 } ?? true
      if case .connectionLost(_, _, let reason) = error {
        let isUnused = isReused && transfer.hasHardlyBegun && arrived == 0
        isStale = isNew && (isUnused || (reason == nil && transfer.followsAnswered))
      }
    }
    activity = .choosing
    connection = nil
    let mayAskAgain = dialogue.interrupted(arrived: arrived, hasBegunBody: hasBegunBody)
    guard mayAskAgain, error.isTransient else { throw error }
    if isStale {
      progressAtStale = dialogue.progress
      return
    }
    if dialogue.progress > progressAtFailure {
      progressAtFailure = dialogue.progress
      failures = 0
    }
    failures += 1
    guard
      let delay = configuration.retryPolicy.delay(
        afterFailures: failures, retryAfterMilliseconds: retryAfterMilliseconds, random: try randomBits())
    else { throw error }
    retryAfterMilliseconds = nil
    hooks.onRetry(Retry(error: error, failures: failures, delayMilliseconds: delay))
    activity = .waiting(untilMilliseconds: now + delay)
  }

  private func randomBits() throws(UploadError) -> UInt64 {
    var bits: UInt64 = 0
    guard shim_random(&bits, 8) == 0 else { throw .outOfResources("randomness") }
    return bits
  }
}

/// Whom a session tells how it goes.
struct SessionHooks {
  var onProgress: (Progress) -> Void = { _ in }
  var onRetry: (Retry) -> Void = { _ in }
}

/// The TLS settings, loaded when the first https target needs them.
final class TLSSource {
  private let options: TLSOptions
  private let jobs: Int
  private var loaded: TLSContext?

  init(_ options: TLSOptions, jobs: Int) {
    self.options = options
    self.jobs = jobs
  }

  func context(for target: TargetURI) throws(UploadError) -> TLSContext? {
    guard target.scheme == .https else { return nil }
    if let loaded { return loaded }
    do throws(TLSError) {
      let context = try TLSContext(options, jobs: jobs)
      loaded = context
      return context
    } catch { throw .tls(error, host: target.host) }
  }
}
