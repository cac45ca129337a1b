/// The state machine of one upload, of the removal of one, or of a question about one. It performs no I/O: it handles events and returns actions.
///
///     var machine = try UploadMachine(.upload(plan), policy)
///     while true {
///       switch machine.next(nowMilliseconds: clock(), unixSeconds: time()) {
///       case .send(let request, let choice): …     // and later: machine.handle(.answered(answer), …)
///       case .hash(let range): …                   // and later: machine.handle(.hashed(digest), …)
///       case .save(let change): …
///       case .await: …                             // for the next event
///       case .finished(let outcome): …
///       case .failed(let error): …
///       }
///     }
///
/// The rules for its driver, of which `TranscriptRun` in `Tests/UploadCoreTests/Support` is a complete one, in virtual time:
///
/// - After each action call ``next(nowMilliseconds:unixSeconds:)`` again, except after `await` and `wait`. Only `send`, `hash`,
///   `awaitGrowth` and `renewCredentials` lead to an event, and so does a `save` that fails: ``UploadEvent/failed(_:)``.
/// - After `send`, call it at once or when the request has been sent. A second `send` is pipelined behind the first. There is no third.
/// - ``UploadEvent/answered(_:)`` is about the oldest request in flight, also if its content was sent only in part, and
///   ``UploadEvent/interrupted(_:)`` about all of them. After both, ``inFlightCount`` says how many responses are still awaited. If that
///   is 0 and others were in flight, close their connection.
/// - Before the last byte of a request that ``HTTPRequest/announcesLastByte``, report ``UploadEvent/lastByteNext``. Then call `next`.
/// - Only requests to ``origin`` may carry credentials: a redirect can lead elsewhere.
/// - The time limit for everything is checked by ``next(nowMilliseconds:unixSeconds:)``, so call it at ``deadlineMilliseconds``. The
///   driver knows better what has been sent by then: it may report an interruption with ``outOfTime`` first.
/// - While a request is in flight, ``lendPart()`` may give a part for another connection, which a machine for it sends. Report what
///   ``UploadTask/progressOfPart`` of that says with ``UploadEvent/lent(_:_:)``, and save what ``takeUnsaved()`` returns. A part that is of no use any
///   more (``awaits(_:)``) need not be sent to its end.
/// - `finished` and `failed` are the last actions. A delivery is the record's last change, or what ``end(with:_:)`` says, also if the
///   upload ends without the machine, as by a signal. Nobody decides anything after that.
///
/// States and transitions:
///
///                                          holding ───▶ rereading
///                                              ▲             │ unchanged
///                                              │ ctime       ▼
///     deciding ── the task's next step ──▶ inFlight (one request, or two) ──▶ deciding
///        │  │                                  │ 401, 403         │ a failure
///        │  └▶ hashing ─▶ comparing ─▶ deciding ▼                  ▼
///        │  └▶ awaitingGrowth, awaitingLent ──▶ deciding
///        ▼                            renewingCredentials     failing ──▶ retrying ──▶ waiting ──▶ deciding
///     finished, failed
package struct UploadMachine {
  /// The outcome of the last request. `fullSend`: how much of a large recording was sent completely in vain, in bytes, if this counts as a
  /// failure; nil if not.
  private enum Latest: Sendable {
    case nothing
    case answered(Answer, fullSend: Int64?)
    case interrupted(fullSend: Int64?)
  }

  package private(set) var state = State.deciding
  private var latest = Latest.nothing
  /// What is sent, and how far it is. Only this machine changes it.
  package private(set) var task: UploadTask
  private let purpose: Purpose
  private let policy: UploadPolicy
  private var retryDecider: RetryDecider
  private var traits = ServerTraits()
  private var fileChangePolicy: FileChangePolicy
  private var cookies = Cookies()
  /// Those of the upload's record.
  private var savedCookies = Cookies()
  /// When GigHive first said that it has taken the upload's file, as it has said since.
  private var takenSinceMilliseconds: Int64?
  /// Why the recording is sent over tus instead of as a form, and the outcome of that form.
  private var formRefusal: (error: UploadError, latest: Latest)?
  private var hasUnreportedFallback = false
  /// A time limit for whole forms.
  private var requestTime = RequestTime()
  /// Whether no further request begins.
  private var isFinishing = false
  /// When ``next(nowMilliseconds:unixSeconds:)`` was first called, on its clock.
  package private(set) var startedAtMilliseconds: Int64?

  /// - Throws: if the request itself is invalid.
  package init(_ purpose: Purpose, _ policy: UploadPolicy) throws(UploadError) {
    self.purpose = purpose
    self.policy = policy
    retryDecider = RetryDecider(policy.retries, seed: policy.seed)
    fileChangePolicy = FileChangePolicy(hasDigest: false, isConfirmed: false)
    switch purpose {
    case .upload(let plan):
      retryDecider = RetryDecider(
        policy.retries, seed: policy.seed, fullSends: plan.previous.fullSends, progress: plan.previous.offset)
      fileChangePolicy = FileChangePolicy(
        hasDigest: plan.computesSHA256, isConfirmed: plan.request.isForGigHive)
      (cookies, savedCookies) = (plan.previous.cookies, plan.previous.cookies)
      task = try UploadMachine.task(plan)
    case .cancel(let location, let overridesMethod, let cookies):
      self.cookies = cookies
      task = CancelTask(location, overridesMethod: overridesMethod)
    case .abort(let location, let region): task = AbortTask(location, region: region)
    case .part(let part):
      cookies = part.cookies
      task = PartTask(part)
    case .delete(let assetID, let deleteToken, let base, let isRepeated):
      task = DeleteTask(assetID: assetID, deleteToken: deleteToken, from: base, isRepeated: isRepeated)
    case .examine(let recording): task = PresenceTask(recording, seed: policy.seed)
    case .remove(let object, let size): task = RemoveTask(object, size: size)
    }
  }

  private static func task(_ plan: UploadPlan) throws(UploadError) -> UploadTask {
    if plan.sendsParts, plan.request.isForTus { return TusPartsTask(plan) }
    if plan.prefersTus { return try TusTask(plan) }
    if plan.sendsParts, let dialect = plan.partsDialect { return PartsTask(plan, dialect) }
    switch plan.request.destination {
    case .put, .s3: return PutTask(plan)
    case .webDAV: return try WebDAVTask(plan)
    case .gigHive, .multipart, .tus, .tusUpload: return MultipartTask(plan)
    }
  }

  /// The number of requests in flight whose responses count. A connection with other requests must be closed.
  package var inFlightCount: Int {
    switch state {
    case .inFlight(_, let second), .holding(_, let second), .rereading(_, let second): second == nil ? 1 : 2
    case .deciding, .hashing, .comparing, .awaitingGrowth, .awaitingLent, .renewingCredentials, .failing, .retrying,
      .waiting, .finished, .failed:
      0
    }
  }

  /// The response that led to this state; nil if the last request got none.
  package var answer: Answer? {
    if case .answered(let answer, _) = latest { answer } else { nil }
  }

  /// How the last request failed if it was a full send.
  private var fullSend: (failure: FullSends.Failure, length: Int64)? {
    switch latest {
    case .answered(_, fullSend: let length?): (.refused, length)
    case .interrupted(fullSend: let length?): (.unanswered, length)
    case .nothing, .answered, .interrupted: nil
    }
  }

  /// Whether the server has refused the recording as a form because of its size, so that tus is tried.
  package var hasFormTooLarge: Bool { formRefusal?.error.isTooLargeAsForm ?? false }

  /// The deadline for everything, on the clock of ``next(nowMilliseconds:unixSeconds:)``; nil if there is no limit.
  package var deadlineMilliseconds: Int64? {
    guard let total = policy.totalMilliseconds, let start = startedAtMilliseconds else { return nil }
    return start + total
  }

  /// The error of an upload that has not ended by its deadline.
  package var outOfTime: UploadError {
    let phase: UploadPhase = if case .examine = purpose { .awaitingAnswer } else { .delivering }
    return .timedOut(phase, peer: origin, limitMilliseconds: policy.totalMilliseconds ?? 0)
  }

  // MARK: Actions

  /// What to do now. A returned request counts as in flight from now on.
  /// - Parameters:
  ///   - now: on a monotonic clock.
  ///   - unixSeconds: the time on this machine, in seconds since 1970.
  package mutating func next(nowMilliseconds now: Int64, unixSeconds: Int64) -> UploadAction {
    if startedAtMilliseconds == nil { startedAtMilliseconds = now }
    checkDeadline(now)
    if case .failing(let error, let mayRepeat) = state {
      decideRetry(error, mayRepeat, now, unixSeconds)
      checkDeadline(now)
    }
    if case .waiting(let until) = state, now >= until { state = .deciding }
    switch state {
    case .deciding:
      if let action = decide() { return action }
    case .inFlight(let first, nil) where task.mayPipeline && !isFinishing:
      if let action = decide(after: first) { return action }
    case .inFlight:
      if let change = task.takeUnsaved() { return .save(change) }
      return .await
    case .retrying where endsNow, .waiting where endsNow: end(.cancelled(hasSentAll: false))
    case .hashing, .rereading, .comparing(isAsked: true), .awaitingGrowth, .awaitingLent: return .await
    case .comparing(isAsked: false):
      state = .comparing(isAsked: true)
      return .hash(.wholeFileAgain)
    case .holding(let first, let second):
      state = .rereading(first: first, second: second)
      return .hash(.wholeFileAgain)
    case .renewingCredentials: return .renewCredentials
    case .retrying(let retry):
      if let change = takeUnsaved() { return .save(change) }
      state = .waiting(untilMilliseconds: now + retry.delayMilliseconds)
      return .reportRetry(retry)
    case .waiting(let until): return .wait(untilMilliseconds: until)
    case .failing: break
    case .finished(let outcome): return .finished(outcome)
    case .failed(let error):
      if let change = takeUnsaved() { return .save(change) }
      return .failed(error)
    }
    return next(nowMilliseconds: now, unixSeconds: unixSeconds)
  }

  /// A change of the record that is saved before the next action, or at once.
  package mutating func takeUnsaved() -> RecordChange? {
    if let change = task.takeUnsaved() { return change }
    let offset = task.lastOffset
    return retryDecider.takeUnsaved().map { .failedFullSends($0, offset: offset) }
  }

  private mutating func checkDeadline(_ now: Int64) {
    guard let deadline = deadlineMilliseconds, now >= deadline else { return }
    switch state {
    case .finished, .failed, .failing: return
    // The sent content may have been stored.
    case .hashing, .comparing, .inFlight, .holding, .rereading: recover(from: Interruption(outOfTime, sent: .whole))
    case .deciding, .awaitingGrowth, .awaitingLent, .renewingCredentials, .retrying, .waiting:
      state = .failed(outOfTime)
    }
    latest = .nothing
  }

  package var origin: String { purpose.base.origin }
  private var host: String { purpose.base.host }

  /// - Parameter first: the request in flight, to which another one may be pipelined.
  /// - Returns: nil if the state has changed.
  private mutating func decide(after first: HTTPRequest? = nil) -> UploadAction? {
    if hasUnreportedFallback {
      hasUnreportedFallback = false
      return .reportWay(.tus)
    }
    // What a new upload's record knows of an earlier one is forgotten, so its creation is saved first.
    if !task.hasPending, task.hasUpload, !cookies.haveSameNames(as: savedCookies) {
      savedCookies = cookies
      return .save(.cookies(cookies))
    }
    do throws(UploadError) {
      switch try task.step() {
      case .ask where endsNow, .hash where endsNow, .awaitGrowth where endsNow, .awaitLent where endsNow:
        end(.cancelled(hasSentAll: false))
      case .ask(let request): return send(request, after: first)
      case .hash(let range):
        // A pipelined request does not wait for hashing.
        guard first == nil else { return .await }
        state = .hashing
        return .hash(range)
      case .save(let change):
        if case .created = change { savedCookies = Cookies() }
        return .save(change)
      case .warn(let warning): return .warn(warning)
      case .await: return .await
      case .awaitGrowth(let length):
        state = .awaitingGrowth
        return .awaitGrowth(to: length)
      case .awaitLent:
        state = .awaitingLent
        return .awaitLent
      case .finished(let outcome): state = .finished(outcome)
      case .fallBackToMultipart:
        if case .upload(let plan) = purpose { task = MultipartTask(plan) }
        guard let formRefusal else { return .reportWay(.form) }
        (latest, state) = (formRefusal.latest, .failing(formRefusal.error, mayRepeat: true))
      case .sendWhole(let location, let isUploaded, let resumedFrom):
        if case .upload(let plan) = purpose {
          task = try UploadMachine.task(plan.whole(at: location, isUploaded: isUploaded, resumedFrom: resumedFrom))
        }
      case .sendParts(let location, let overridesMethod):
        guard case .upload(let plan) = purpose else { break }
        task = TusPartsTask(plan.inParts(overridesMethod: overridesMethod), leaving: location)
        return .reportWay(.parts)
      case .fallBackToPut:
        if case .upload(let plan) = purpose { task = try WebDAVTask(plan.begunAnew) }
      }
    } catch { recover(from: Interruption(error)) }
    return nil
  }

  private mutating func send(_ request: HTTPRequest, after first: HTTPRequest?) -> UploadAction {
    var request = request
    let target = traits.redirects.target(for: request.target)
    if request.mayMove(to: target) { (request.target, request.isRedirected) = (target, target != request.target) }
    request.mayExpectContinue =
      request.mayExpectContinue && traits.mayExpectContinue && request.contentLength >= Limits.expectContinueFrom
    if request.target.origin == origin, let cookie = cookies.field(for: request.target) {
      request.fields.append(cookie)
    }
    state = first.map { .inFlight(first: $0, second: request) } ?? .inFlight(first: request, second: nil)
    return .send(request, over: traits.connection(for: request))
  }

  /// Begins no further request. The upload ends with ``UploadError/cancelled(hasSentAll:)`` when those in flight have been answered, at once
  /// if there are none, unless the server has everything already.
  package mutating func finish() {
    isFinishing = true
    guard endsNow else { return }
    switch state {
    case .hashing, .awaitingGrowth, .awaitingLent: end(.cancelled(hasSentAll: false))
    default: break
    }
  }

  /// Whether it ends where another request would begin.
  private var endsNow: Bool { isFinishing && !task.isTidying && !task.awaitsOutcome }

  // MARK: Other connections

  /// A part for another connection, which sends it by a machine for that purpose; nil if there is none now.
  package mutating func lendPart() -> LentPart? {
    guard case .inFlight = state, !isFinishing, case .upload(let plan) = purpose,
      var part = task.lend(plan.request.file, to: plan.request.base)
    else { return nil }
    part.cookies = cookies
    return part
  }

  /// Whether a part that was lent is still of use.
  package func awaits(_ part: LentPart.ID) -> Bool {
    switch state {
    case .finished, .failed: false
    default: task.awaits(part)
    }
  }

  // MARK: Events

  /// Handles an event. After the end, nothing changes the outcome: what was in flight then may still be answered, interrupted or hashed.
  /// Any other event in a state that does not expect it is a bug, which ends the upload with ``UploadError/internalError(_:)``.
  package mutating func handle(_ event: UploadEvent) {
    switch (state, event) {
    case (.finished, _), (.failed, _): return
    // The server has what it was before.
    case (.comparing, .failed(.file(_, let change))) where change.isChange: fail(.changedInTransit)
    case (_, .failed(let error)): end(error)
    // It may come at any time, and be of no use any more.
    case (_, .lent(let part, let progress)):
      task.note(progress, of: part)
      if progress.isEnd, case .awaitingLent = state { state = .deciding }
    case (.inFlight(let first, let second), .answered(let answer)):
      let isBusy = task.sendsParts && (answer.status == 429 || answer.status == 503)
      let isFullSend = first.contentLength > Limits.fullSendLength && answer.sent == .whole && !isBusy
      latest = .answered(answer, fullSend: isFullSend ? first.contentLength : nil)
      do throws(UploadError) {
        try receive(answer, to: first, second)
      } catch { recover(from: Interruption(error, by: answer)) }
    case (.inFlight(let first, _), .interrupted(let interruption)),
      (.holding(let first, _), .interrupted(let interruption)),
      (.rereading(let first, _), .interrupted(let interruption)):
      latest = .interrupted(fullSend: interruption.isFullSend(of: first) ? first.contentLength : nil)
      recover(from: interruption)
    case (.inFlight, .lastByteNext): task.lastByteNext()
    case (.inFlight(let first, let second), .statusChanged(let statusChange)):
      switch fileChangePolicy.decide(on: statusChange, comparesParts: task.comparesParts) {
      case .proceed: break
      case .reread: state = .holding(first: first, second: second)
      case .changed(let error): fail(error)
      }
    case (.rereading(let first, let second), .hashed(.wholeFileAgain(let sent, let now, let isStable))):
      state = .inFlight(first: first, second: second)
      if let problem = fileChangePolicy.compare(sent: sent, now: now, isStable: isStable) { fail(problem) }
    // If the server confirms nothing, this could be the digest of a mixture.
    case (.hashing, .hashed(.wholeFile(_, isStable: false, _)))
    where !fileChangePolicy.isConfirmed && !task.comparesParts:
      if fileChangePolicy.rereadsDigested() { state = .comparing(isAsked: false) } else { fail(.changedInTransit) }
    case (.comparing(isAsked: true), .hashed(.wholeFileAgain(let sent, let now, let isStable))):
      if fileChangePolicy.compare(sent: sent, now: now, isStable: isStable) != nil { return fail(.changedInTransit) }
      take(.wholeFile(sha256: sent))
    case (.hashing, .hashed(.wholeFileAgain)): refuse(event)
    case (.hashing, .hashed(let hashed)): take(hashed)
    case (.awaitingGrowth, .grown(let growth)):
      state = .deciding
      if case .upload(let plan) = purpose { task.grown(growth, orFail: .file(plan.request.file, .removed)) }
    case (.renewingCredentials(let answer, let request), .credentials(let areNew)):
      traits.renew()
      do throws(UploadError) {
        if areNew { return try askAgain(after: answer, orElse: answer.refusal) }
        try judge(answer, from: request)
        state = .deciding
      } catch { recover(from: Interruption(error, by: answer)) }
    case (.deciding, _), (.hashing, _), (.comparing, _), (.awaitingGrowth, _), (.awaitingLent, _), (.inFlight, _),
      (.holding, _), (.rereading, _), (.renewingCredentials, _), (.failing, _), (.retrying, _), (.waiting, _):
      refuse(event)
    }
  }

  private mutating func take(_ hashed: HashResult) {
    state = .deciding
    if case .range(_, .some) = hashed { fileChangePolicy.noteStatusChange() }
    do throws(UploadError) { try task.hashed(hashed) } catch { recover(from: Interruption(error, sent: .whole)) }
  }

  /// What is not in the table is a bug of the driver or of this machine. Nothing is believed any more; a new machine may succeed.
  private mutating func refuse(_ event: UploadEvent) {
    end(.internalError("an upload was told " + event.name + " while " + state.name))
  }

  private mutating func fail(_ error: FileError) {
    switch purpose {
    case .upload(let plan): end(.file(plan.request.file, error))
    case .part(let part): end(.file(part.file, error))
    case .cancel, .abort, .delete, .examine, .remove: break
    }
  }

  /// How an upload ends that is not delivered, for its caller and for its record.
  /// - Parameter error: the last action's, or what ended the upload without the machine.
  package func end(with error: UploadError, _ facts: LocalFacts) -> UploadEnd {
    var end = UploadEnd(error, offset: task.lastOffset)
    if case .cancelled = error {
      end.error = .cancelled(hasSentAll: task.sendsWhole && facts.hasSentAll)
      end.recorded = end.error
    }
    end.sent = facts.sent
    guard case .upload(let plan) = purpose else { return end }
    // GigHive recognizes a recording that it has. Another server may store a form that is sent again.
    if !plan.request.isRepeatable, end.error == .cancelled(hasSentAll: true) {
      end.recorded = .mayBeStored(end.error)
    }
    // Otherwise neither the server nor a digest would reveal what a change of the status stands for.
    guard facts.hasNewStatus, facts.sent == nil, !task.isComparedLater else { return end }
    if !plan.request.isRepeatable, !task.sendsWhole || !plan.request.computesSHA256 {
      end.contentDoubt = task.doubt == .unclear || facts.hasSentAll ? .unclear : StoredDoubt.none
    } else {
      end.contentDoubt = task.doubtOfParts
    }
    return end
  }

  /// Ends the upload with an error of this machine.
  private mutating func end(_ error: UploadError) {
    state = .failed(task.mayBeStored(afterLocal: error) ? .mayBeStored(error) : error)
    latest = .nothing
  }

  private mutating func receive(
    _ answer: Answer, to first: HTTPRequest, _ second: HTTPRequest?
  ) throws(UploadError) {
    retryDecider.keepRetryAfter(of: answer, to: first)
    if first.target.origin == origin {
      cookies.receive(answer.fields, from: first.target, nowSeconds: answer.receivedAtSeconds)
    }
    if task.isTidying {
      try task.receive(answer, from: first.target)
      state = .deciding
      return
    }
    switch answer.instruction(expectedContinue: first.mayExpectContinue) {
    case .repeatWithoutExpect:
      traits.expectationFailed()
      return try askAgain(after: answer, orElse: answer.refusal)
    case .redirect(let location): return try follow(location, answer, from: first)
    case .redirectAsGet(let location):
      if try task.takeConfirmation(by: location, answer) {
        state = .deciding
        return
      }
      throw .redirected(status: answer.status, location: location)
    case .authenticate where traits.authorization == .accepted && policy.canRenewCredentials:
      state = .renewingCredentials(answer, of: first)
      return
    case .authenticate, .none: break
    }
    if let refusal = policy.proxies.refusal(answer, to: first.target) { throw refusal }
    try judge(answer, from: first)
    state = if task.awaitsAnswer, let second { .inFlight(first: second, second: nil) } else { .deciding }
  }

  private mutating func judge(_ answer: Answer, from request: HTTPRequest) throws(UploadError) {
    if task.isPortals(answer) {
      traits.redirects.forget()
      throw .notFromServer(status: answer.status)
    }
    if answer.isSuccess, answer.sent != .whole, let problem = task.problem(ofEarly: answer) { throw problem }
    if task.sendsWhole, let problem = Redirects.problem(answer, from: request.target, origin: origin) { throw problem }
    if answer.isSuccess { traits.succeeded() }
    try task.receive(answer, from: request.target)
    traits.requestAnswered(progress: task.progress)
  }

  /// Repeats the request from its start, if possible.
  private mutating func askAgain(after answer: Answer, orElse error: UploadError) throws(UploadError) {
    guard task.interrupted(Interruption(error, sent: .none, run: answer.run)) == .allowed else { throw error }
    state = .deciding
  }

  /// 307 and 308 keep method and content (RFC 9110, 15.4).
  private mutating func follow(
    _ location: String, _ answer: Answer, from first: HTTPRequest
  ) throws(UploadError) {
    let refusal = UploadError.redirected(status: answer.status, location: location)
    let target = try? first.target.resolving(location)
    if first.isConfidential, let target, target.origin != origin { throw refusal }
    if let target, !first.mayMove(to: target) { throw refusal }
    try traits.redirects.follow(from: first.target, to: location, isPermanent: answer.status == 308)
    try askAgain(after: answer, orElse: refusal)
  }

  // MARK: Failures

  /// Prepares a retry, or ends with an error that cannot be retried.
  private mutating func recover(from interruption: Interruption) {
    let error = interruption.error
    if let problem = fileChangePolicy.problem(after: error) { return fail(problem) }
    if error.isTooLargeAsForm || isCutAgain(interruption), let tus = tusInsteadOfForm() {
      (formRefusal, hasUnreportedFallback) = ((error, latest), true)
      (task, latest, state) = (tus, .nothing, .deciding)
      return
    }
    let wasTidying = task.isTidying
    switch task.interrupted(interruption) {
    case .forbidden: state = .failing(error, mayRepeat: false)
    case .couldStoreTwice: state = .failed(.mayBeStored(error))
    // What is not needed is left: nobody may ever answer there.
    case .allowed where task.isMoving || (wasTidying && error != outOfTime): state = .deciding
    case .allowed where traits.forgive(interruption):
      task.forbidPipelining()
      state = .deciding
    case .allowed: state = .failing(task.cause(of: interruption), mayRepeat: true)
    }
  }

  /// Whether a second request was stopped after the same time.
  private mutating func isCutAgain(_ interruption: Interruption) -> Bool {
    interruption.sent != .whole && requestTime.wasReached(after: interruption.cutAfterMilliseconds)
  }

  /// The server refuses such a large form, and may take the recording in parts.
  private func tusInsteadOfForm() -> TusTask? {
    guard task.sendsWhole, formRefusal == nil, case .upload(let plan) = purpose, plan.request.maySendTus else {
      return nil
    }
    return try? TusTask(plan)
  }

  /// Decides whether a failed attempt is repeated.
  /// - Parameter mayRepeat: whether sending it again is safe.
  private mutating func decideRetry(_ error: UploadError, _ mayRepeat: Bool, _ now: Int64, _ unixSeconds: Int64) {
    var mayPass = error.traits.isTransient
    if policy.retries.limit.isPatient {
      mayPass = error.mayPass(host: host, unixSeconds: unixSeconds)
      if error.isStrangers(host: host) { forgetStranger() }
    }
    let isLoss = error == .uploadLost && task.hasLostRecording
    let fullSend = isWithoutResult(error) ? fullSend : nil
    let failure = isLoss ? .lost : fullSend?.failure
    // A tus server that did not respond is asked how much it has kept.
    let consequence = retryDecider.failed(
      error, mayPass: mayPass, mayRepeat: mayRepeat, fullSend: failure, sentLength: fullSend?.length ?? 0,
      pausesAfterFullSend: task.sendsWhole || failure != .unanswered, progress: isLoss ? 0 : task.progress,
      minimumDelay: task.pauseMilliseconds(after: error), nowMilliseconds: now, unixSeconds: unixSeconds)
    if !isLoss, endsFinalizing(consequence, now) { return }
    // It counts once.
    if case .answered(let answer, _) = latest {
      latest = .answered(answer, fullSend: nil)
    } else {
      latest = .nothing
    }
    switch consequence {
    case .retry(let retry):
      traits.redirects.attemptFailed()
      state = .retrying(retry)
    // What is not needed never ends an upload.
    case .end(let error): state = task.leaveTidying() ? .deciding : .failed(error)
    }
  }

  /// GigHive may have taken the file of the upload, and lost it. While another call may be making the recording, it is asked again.
  /// - Returns: whether there is something better to do than what would follow.
  private mutating func endsFinalizing(_ consequence: RetryDecider.Consequence, _ now: Int64) -> Bool {
    guard let patience = task.finalizingPatienceMilliseconds else {
      takenSinceMilliseconds = nil
      return false
    }
    let since = takenSinceMilliseconds ?? now
    takenSinceMilliseconds = since
    if case .retry = consequence, now - since < patience { return false }
    if patience > Limits.lostUploadMilliseconds, now - since < patience { return false }
    do throws(UploadError) {
      guard try task.endFinalizing() else { return false }
      state = .deciding
    } catch { state = .failing(error, mayRepeat: true) }
    return true
  }

  /// Whether everything sent would have to be sent again.
  private func isWithoutResult(_ error: UploadError) -> Bool {
    if case .timedOut(.delivering, _, _) = error { return false }
    // It is not sent again.
    if case .formDropped = error { return false }
    return error != .stillProcessing
  }

  /// Once a captive portal is gone, its responses no longer count: its redirects, and that there is no tus.
  private mutating func forgetStranger() {
    traits.redirects.forget()
    if task.sendsWhole, case .upload(let plan) = purpose, plan.prefersTus, let tus = try? TusTask(plan) { task = tus }
  }
}

extension UploadMachine {
  package enum State: Equatable, Sendable {
    /// The task decides what comes next.
    case deciding
    case hashing
    /// The file's status changed while it was hashed, and it is read once more.
    case comparing(isAsked: Bool)
    /// The recording is being made, and has not grown enough.
    case awaitingGrowth
    /// Other connections send what is missing.
    case awaitingLent
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

    /// For reports of a bug.
    fileprivate var name: String {
      switch self {
      case .deciding: "deciding"
      case .hashing: "hashing"
      case .comparing: "comparing"
      case .awaitingGrowth: "awaiting growth"
      case .awaitingLent: "awaiting parts"
      case .inFlight: "in flight"
      case .holding: "holding"
      case .rereading: "rereading"
      case .renewingCredentials: "renewing credentials"
      case .failing: "failing"
      case .retrying: "retrying"
      case .waiting: "waiting"
      case .finished: "finished"
      case .failed: "failed"
      }
    }
  }
}

extension UploadMachine {
  /// The purpose of the machine. Indirect, because copies of something so large take much code, and nothing of it
  /// changes.
  package indirect enum Purpose: Sendable {
    case upload(UploadPlan)
    /// End an upload on a tus server.
    case cancel(TargetURI, overridesMethod: Bool, Cookies = Cookies())
    /// End a multipart upload on an S3 server.
    case abort(TargetURI, region: String)
    /// Send one part of a recording over a connection of its own.
    case part(LentPart)
    /// Delete a recording from GigHive. `isRepeated`: whether it was asked before, without a response.
    case delete(assetID: Int64, deleteToken: String, from: TargetURI, isRepeated: Bool)
    /// Ask GigHive whether it still has a recording.
    case examine(StoredRecording)
    /// Remove an object from a WebDAV server, if it has this size in bytes; nil for what an upload has left.
    case remove(TargetURI, size: Int64?)

    /// Ends an upload that nothing needs any more.
    /// - Parameter request: says which kind of server it is. nil if the upload is one of another kind.
    package init?(ending upload: TargetURI, as request: UploadRequest) {
      switch request.destination {
      case .s3(let object) where upload.isMultipartUpload: self = .abort(upload, region: object.region)
      case .webDAV where !upload.isMultipartUpload: self = .remove(upload, size: nil)
      case .gigHive where !upload.isMultipartUpload, .tus where !upload.isMultipartUpload:
        self = .cancel(upload, overridesMethod: request.overridesMethod)
      case .s3, .webDAV, .gigHive, .tus, .tusUpload, .multipart, .put: return nil
      }
    }

    /// The server's address.
    var base: TargetURI {
      switch self {
      case .upload(let plan): plan.request.base
      case .cancel(let location, _, _): location
      case .abort(let location, _): location
      case .part(let part): part.base
      case .delete(_, _, let base, _): base
      case .examine(let recording): recording.base
      case .remove(let object, _): object
      }
    }
  }
}

package enum UploadEvent: Equatable, Sendable {
  /// The oldest request in flight was answered.
  case answered(Answer)
  /// The requests in flight will get no response.
  case interrupted(Interruption)
  case hashed(HashResult)
  /// The recording has grown as far as was awaited, or has ended: nobody writes to it any more.
  case grown(Growth)
  /// What has become of a part that another connection sends.
  case lent(LentPart.ID, LentPart.Progress)
  /// The last byte of the newest request in flight, which announces it, is about to be sent.
  case lastByteNext
  /// Only the file's status (ctime) has changed since it was opened, not its size or modification time.
  case statusChanged(StatusChange)
  /// The credentials were read again. `areNew`: whether they differ from the refused ones.
  case credentials(areNew: Bool)
  /// A local failure, such as of the file or the record, ends the upload.
  case failed(UploadError)

  /// For reports of a bug.
  fileprivate var name: String {
    switch self {
    case .answered: "of a response"
    case .interrupted: "of an interruption"
    case .hashed: "of a digest"
    case .grown: "of growth"
    case .lent: "of a part"
    case .lastByteNext: "of the last byte"
    case .statusChanged: "of a new status"
    case .credentials: "of credentials"
    case .failed: "of a failure"
    }
  }
}

package enum UploadAction: Equatable, Sendable {
  /// Send the request. If another one is in flight, pipeline it on the same connection (RFC 9112, 9.3.2).
  case send(HTTPRequest, over: ConnectionChoice)
  case hash(HashRange)
  /// Wait until the recording, which grows, has this many bytes, or has ended.
  case awaitGrowth(to: Int64)
  /// Wait for a part that another connection sends.
  case awaitLent
  /// Save the change in the upload's record, so that it survives a power cut, before anything else.
  case save(RecordChange)
  /// Read the credentials again, after they were refused.
  case renewCredentials
  /// Tell the user about a failed attempt that will be retried.
  case reportRetry(Retry)
  /// Tell the user that the recording is sent in another way from now on.
  case reportWay(UploadWay)
  case warn(UploadWarning)
  /// Nothing is in flight. An event before that time is not expected.
  case wait(untilMilliseconds: Int64)
  /// Wait for the next event.
  case await
  case finished(Outcome)
  case failed(UploadError)
}

/// Another way to send a recording than it began with.
package enum UploadWay: Equatable, Sendable {
  /// The server does not take such a large form.
  case tus
  /// The server does not support tus.
  case form
  /// Packets are lost: over tus, over several connections.
  case parts
}

/// What the user should know of an upload, whatever becomes of it.
package enum UploadWarning: Equatable, Sendable {
  /// The file is not, or may not be, the one that was sent in part, and is sent again from the start.
  case otherFile
  /// The server has not deleted what nothing needs any more: uploads at these URLs, at least one.
  case partsLeft([TargetURI], PartsFate)
  /// The server does not join the parts of the recording, which is sent again.
  case notJoined(UploadError)
}

/// What becomes of parts that the server has not deleted.
package enum PartsFate: Equatable, Sendable {
  /// The record has them: `cancel` tries again.
  case recorded
  /// Nobody knows them any more, unless they are noted elsewhere.
  case forgotten
  /// The server deletes none.
  case kept
}

/// Whether the server may have the whole recording, although no response says so. Each is worse than the one before.
enum StoredDoubt: Comparable, Sendable {
  /// It does not have the last byte, or says what it has.
  case none
  /// The last byte may be on its way: the record says so.
  case announced
  /// The last byte was sent, and no response says what became of it.
  case unclear
}

/// What only the driver knows when an upload ends.
package struct LocalFacts: Sendable {
  /// Whether the content of the request in flight was sent completely.
  package var hasSentAll: Bool
  /// What of the file was sent over tus, from its start; nil if that is not known.
  package var sent: SentPart?
  /// Whether the file's status (ctime) has changed since it was opened, and nothing else of it.
  package var hasNewStatus: Bool

  package init(hasSentAll: Bool = false, sent: SentPart? = nil, hasNewStatus: Bool = false) {
    self.hasSentAll = hasSentAll
    self.sent = sent
    self.hasNewStatus = hasNewStatus
  }
}

/// How an upload ended without being delivered: the last change of its record.
package struct UploadEnd: Equatable, Sendable {
  /// What its caller is told.
  package internal(set) var error: UploadError
  /// What the record keeps.
  package internal(set) var recorded: UploadError
  /// The last known offset on the server, in bytes.
  package let offset: Int64
  /// What of the file was sent over tus; nil if that is not known.
  package internal(set) var sent: SentPart?
  /// nil if what was sent is known to be what the file has. Otherwise, whether the server may have all of it.
  var contentDoubt: StoredDoubt?

  /// An upload that ended before its machine began.
  /// - Parameter offset: the record's.
  package init(_ error: UploadError, offset: Int64) {
    (self.error, recorded, self.offset) = (error, error, offset)
  }
}

package enum ConnectionChoice: Equatable, Sendable {
  /// An open one, if its server has not ended it; otherwise a new one.
  case reused
  /// An open one that its server has promised to keep open (`Connection: keep-alive`); otherwise a new one.
  case reusedIfPromised
  /// A new one, now and for all requests to this origin, because its server closes connections without notice.
  case fresh
}

/// The outcome of an upload, of the removal of one, or of a question about one.
package enum Outcome: Equatable, Sendable {
  case delivered(Receipt, SentFile, resumedFrom: Int64)
  /// The recording, which was sent while it grew, has ended. Nothing of it is stored yet: it is sent to its end as a file of known size.
  case ended
  /// The upload has ended. `isKept`: the server cannot end uploads, and keeps its part until that expires.
  case cancelled(isKept: Bool)
  /// The recording is no longer on the server.
  /// - Parameter wasGone: it was not there any more.
  case deleted(wasGone: Bool)
  /// GigHive was asked about a recording.
  case examined(Absence?)
  /// The server has taken one part of a recording.
  case partTaken
}

/// Settings that apply to uploads of all protocols.
package struct UploadPolicy: Sendable {
  package var retries: RetryPolicy
  /// The time limit for the whole upload with all retries, in milliseconds; nil for no limit.
  package var totalMilliseconds: Int64?
  /// Whether the credentials can be read again when they are refused.
  package var canRenewCredentials = false
  /// The proxies that requests go through.
  package var proxies = ProxySettings()
  /// The seed for the random part of delays, and for what must be another one each time.
  package var seed: UInt64

  package init(retries: RetryPolicy, seed: UInt64) {
    self.retries = retries
    self.seed = seed
  }
}

/// The progress of an upload.
public struct UploadProgress: Equatable, Sendable {
  /// The number of bytes of the file that the peer has acknowledged.
  public let deliveredBytes: Int64
  /// The file's size in bytes; while it grows, how much of it there is, at least 1.
  public let totalBytes: Int64
  /// How long ago the first byte was written that has not arrived, in milliseconds; nil for a file that is finished. Its first part,
  /// which is sent last, does not count.
  public let behindMilliseconds: Int64?

  package init(deliveredBytes: Int64, totalBytes: Int64, behindMilliseconds: Int64? = nil) {
    self.deliveredBytes = deliveredBytes
    self.totalBytes = totalBytes
    self.behindMilliseconds = behindMilliseconds
  }
}

extension Limits {
  /// The content length from which a request asks for `100 (Continue)` first (RFC 9110, 10.1.1), in bytes.
  static let expectContinueFrom: Int64 = 1 << 20
}
