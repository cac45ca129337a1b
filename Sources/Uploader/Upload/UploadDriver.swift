import CShims
import UploadCore

/// Carries out the actions of an ``UploadMachine``: it connects, sends, reads, hashes and waits, and reports events to the
/// machine. It makes no decisions itself.
final class UploadDriver: Steppable {
  private enum Activity {
    case deciding
    /// The request is not begun: the rate limit's timetable has a pause, too many uploads wait for their recordings, no slot for sending is
    /// free, or another upload that waits is connecting.
    case held(HTTPRequest, ConnectionChoice)
    case connecting(Connector, HTTPRequest)
    case transferring(Transferring)
    case hashing(FileHasher)
    /// The recording grows, and is looked at from time to time.
    case growing(to: Int64, nextLookMilliseconds: Int64)
    /// Helpers send what is missing.
    case awaitingLent
    /// The file is read again while the transfer holds its end back.
    case rereading(FileHasher, Transferring, sinceMilliseconds: Int64)
    case waiting(untilMilliseconds: Int64)
    case finished(Outcome)
  }

  private struct Transferring {
    let transfer: Transfer
    let connection: Connection
    let target: TargetURI
  }

  private(set) var machine: UploadMachine
  private var activity = Activity.deciding {
    didSet { slot.connectingSinceMilliseconds = if case .connecting = activity { now } else { nil } }
  }
  private let shared: SharedResources
  private(set) var slot: UploadSlot
  private let slots: UploadSlots?
  private let source: TransferSource?
  private let hooks: DriverHooks
  private var composer: RequestComposer
  private var connections: ConnectionCount
  private var helpers = Helpers()
  /// What is digested while the request in flight is sent.
  private var ahead: HashAhead?
  private var hasWarnedOfLocation = false
  /// Where the last request for an upload at another origin than the server's went.
  private var otherOrigin: String?
  /// When it is cancelled, although its request has not ended; nil for never.
  private var finishUntil: Int64?
  /// The time of the last step, on the monotonic clock.
  private(set) var now: Int64 = 0

  /// - Parameters:
  ///   - source: the file; nil if nothing is uploaded.
  ///   - slots: where the slot is exchanged for one that suits an upload that only waits for the server; nil keeps it.
  ///   - composer: adds credentials to requests.
  init(
    _ machine: UploadMachine, of source: TransferSource? = nil, slot: UploadSlot, slots: UploadSlots? = nil,
    shared: SharedResources, composer: RequestComposer, hooks: DriverHooks = DriverHooks()
  ) {
    self.machine = machine
    self.source = source
    self.slot = slot
    self.slots = slots
    self.shared = shared
    self.composer = composer
    self.hooks = hooks
    connections = ConnectionCount(shared.configuration.connections)
  }

  /// The outcome, once ``step(_:nowMilliseconds:)`` has returned nil.
  var outcome: Outcome? {
    if case .finished(let outcome) = activity { outcome } else { nil }
  }

  /// What the machine cannot know at the end of the upload.
  var facts: LocalFacts {
    LocalFacts(
      hasSentAll: hasSentAll, sent: machine.task.sendsWhole || machine.task.readsUnknown ? nil : source?.sentPart,
      hasNewStatus: (try? source?.file.verifyUnchanged()) ?? false)
  }

  var hasSentAll: Bool {
    switch activity {
    case .transferring(let transferring), .rereading(_, let transferring, _): transferring.transfer.hasSentAll
    case .hashing: machine.task.isVerifying
    case .deciding, .held, .connecting, .growing, .awaitingLent, .waiting, .finished: false
    }
  }

  // MARK: The step

  /// Begins no further request. One in flight is completed, over tus if that takes no more than ``Limits/finishMilliseconds``.
  func finish(nowMilliseconds: Int64) {
    machine.finish()
    switch activity {
    case .held, .connecting:
      finishUntil = nowMilliseconds
      return
    case .hashing where !machine.task.awaitsOutcome, .waiting where !machine.task.awaitsOutcome, .growing,
      .awaitingLent:
      activity = .deciding
    case .deciding, .transferring, .rereading, .hashing, .waiting, .finished: break
    }
    if !machine.task.sendsWhole { finishUntil = nowMilliseconds + Limits.finishMilliseconds }
  }

  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait? {
    now = nowMilliseconds
    if let finishUntil, now >= finishUntil { throw .cancelled(hasSentAll: false) }
    interruptAtDeadline()
    var ready = ready
    while true {
      if var wait = try advance(ready) {
        if let deadline = machine.deadlineMilliseconds {
          wait.untilMilliseconds = min(wait.untilMilliseconds, deadline)
        }
        if let finishUntil { wait.untilMilliseconds = min(wait.untilMilliseconds, finishUntil) }
        return wait
      }
      if case .finished = activity { return nil }
      ready = []
    }
  }

  /// The total time limit has passed. What that means depends on the current activity.
  private func interruptAtDeadline() {
    guard let deadline = machine.deadlineMilliseconds, now >= deadline else { return }
    switch activity {
    case .transferring(let transferring), .rereading(_, let transferring, _):
      machine.handle(.interrupted(transferring.transfer.interruption(machine.outOfTime)))
    // Nothing of the request was sent.
    case .held, .connecting: machine.handle(.interrupted(Interruption(machine.outOfTime)))
    case .deciding, .hashing, .growing, .awaitingLent, .waiting, .finished: break
    }
    activity = .deciding
  }

  func extendDeadlines(by milliseconds: Int64) {
    switch activity {
    case .connecting(let connector, _): connector.extendDeadlines(by: milliseconds)
    case .transferring(let transferring): transferring.transfer.extendDeadlines(by: milliseconds)
    // The whole reading time is excluded at its end.
    case .rereading: break
    case .deciding, .held, .hashing, .growing, .awaitingLent, .waiting, .finished: break
    }
  }

  /// - Returns: nil if the activity has changed.
  private func advance(_ ready: Readiness) throws(UploadError) -> Wait? {
    switch activity {
    case .deciding: try act(next())
    case .held(let request, let choice):
      if isPaused { return Wait(untilMilliseconds: now + Limits.ratePauseMilliseconds) }
      if !mayBegin() { return Wait(untilMilliseconds: now + Limits.waitingPlaceMilliseconds) }
      try send(request, choice)
    case .connecting(let connector, let request):
      do throws(UploadError) {
        if let wait = try connector.step(ready, nowMilliseconds: now) { return wait }
        if let connection = connector.connection { try transfer(request, over: connection) }
      } catch {
        if request.target.origin != machine.origin, ["PATCH", "HEAD"].contains(request.method) {
          warn(ofLocation: request.target.origin)
        }
        end(.interrupted(Interruption(error)))
      }
    case .transferring(let transferring):
      return try advance(transferring, ready)
    case .rereading(let reading, let transferring, let since):
      do throws(UploadError) {
        if let wait = try reading.step(ready, nowMilliseconds: now) { return wait }
        machine.handle(.hashed(try reading.hashed()))
        if case .inFlight = machine.state { source?.confirmUnchanged() }
        transferring.transfer.extendDeadlines(by: now - since)
        resume(transferring)
      } catch { end(.failed(error)) }
    case .hashing(let reading):
      do throws(UploadError) {
        if let wait = try reading.step(ready, nowMilliseconds: now) { return wait }
        end(.hashed(try reading.hashed()))
      } catch { end(.failed(error)) }
    case .growing(let length, let nextLook):
      if now < nextLook { return Wait(untilMilliseconds: nextLook) }
      try look(awaiting: length)
    case .awaitingLent: return Wait(untilMilliseconds: .max)
    case .waiting(let until):
      if now < until { return Wait(untilMilliseconds: until) }
      activity = .deciding
    case .finished: break
    }
    return nil
  }

  private func look(awaiting length: Int64) throws(UploadError) {
    guard let file = source?.file else { throw .noFile }
    do throws(FileError) {
      let hasEnded = try file.hasEnded(nowMilliseconds: now)
      if file.cancelsUpload {
        end(.grown(.removed))
      } else if file.size >= length {
        end(.grown(.enough))
      } else if hasEnded {
        end(.grown(.ended))
      } else {
        activity = .growing(to: length, nextLookMilliseconds: now + Limits.growthMilliseconds)
        reportProgress()
      }
    } catch { end(.failed(.file(file.path, error))) }
  }

  /// Nobody answers where the server has led.
  private func warn(ofLocation origin: String) {
    guard !hasWarnedOfLocation else { return }
    hasWarnedOfLocation = true
    shared.configuration.warnings?(TusChecks.remedy(ofLocation: composer.secrets.host(origin)))
  }

  /// Reports the result of an activity to the machine.
  private func end(_ event: UploadEvent) {
    machine.handle(event)
    activity = .deciding
  }

  private func next() -> UploadAction { machine.next(nowMilliseconds: now, unixSeconds: shim_unix_seconds()) }

  private func act(_ action: UploadAction) throws(UploadError) {
    switch action {
    case .send(let request, let choice): try send(request, choice)
    case .hash(let range): try hash(range)
    case .awaitGrowth(let length):
      if machine.task.joinsNothing, let source { shared.configuration.warnings?(GrowingFile.waiting(source.file.path)) }
      slot.rest()
      activity = .growing(to: length, nextLookMilliseconds: now)
    case .awaitLent: activity = .awaitingLent
    case .save(let change): save(change)
    case .renewCredentials: renewCredentials()
    case .reportRetry(let retry):
      reportAnswer()
      hooks.onRetry(
        Retry(
          error: retry.error.redacted(composer.secrets), failures: retry.failures,
          delayMilliseconds: retry.delayMilliseconds, remainingMilliseconds: retry.remainingMilliseconds))
    case .reportWay(let way):
      if machine.hasFormTooLarge { hooks.onFormTooLarge() }
      shared.configuration.diagnostics?("* " + way.text)
    case .warn(let warning):
      guard let source else { return }
      var isNoted = false
      if case .partsLeft(let uploads, .forgotten) = warning { isNoted = hooks.noteUndeleted(uploads) }
      shared.configuration.warnings?(composer.secrets.redacted(warning.text(of: source.file.path, isNoted: isNoted)))
    case .wait(let until):
      slot.rest()
      activity = .waiting(untilMilliseconds: until)
    // Nothing is in flight here, so no response will come.
    case .await: end(.failed(.connectionLost(.awaitingAnswer, peer: machine.origin, nil)))
    case .finished(let outcome):
      reportAnswer()
      activity = .finished(outcome)
    case .failed(let error):
      reportAnswer()
      throw error.redacted(composer.secrets)
    }
  }

  /// The response that led to the current state; nil if the last request got none.
  var answer: RedactedAnswer? { machine.answer.map { composer.redacted($0, to: machine.task.answered) } }

  private func reportAnswer() {
    if let answer { hooks.onAnswer(answer) }
  }

  private func save(_ change: RecordChange) {
    if case .moved = change, let otherOrigin { warn(ofLocation: otherOrigin) }
    do throws(UploadError) { try hooks.save(change.redacted(composer.secrets)) } catch {
      if change.mustBeSaved { return machine.handle(.failed(error)) }
      if case .parts = change { return }
      shared.configuration.warnings?(
        error.message + " After a crash, check whether the server has this recording before you send it again.")
    }
  }

  private func renewCredentials() {
    let fresh = shared.configuration.refreshCredentials?()
    let old = composer.credentials
    let areNew = fresh.map { $0.fields != old.fields || $0.s3Keys != old.s3Keys } ?? false
    if areNew, let fresh {
      composer.use(fresh)
      shared.configuration.diagnostics?(
        "* the server refused the credentials; retrying with newly read ones")
    }
    machine.handle(.credentials(areNew: areNew))
  }

  private func hash(_ range: HashRange) throws(UploadError) {
    do throws(UploadError) {
      guard let source else { throw .noFile }
      let reading = try FileHasher(
        source, range, ahead: ahead?.range == range ? ahead : nil, buffers: slot.buffers)
      ahead = nil
      if case .transferring(let transferring) = activity {
        activity = .rereading(reading, transferring, sinceMilliseconds: now)
      } else {
        activity = .hashing(reading)
      }
    } catch { end(.failed(error)) }
  }

  /// Continues the transfer, unless the machine has ended the upload.
  private func resume(_ transferring: Transferring) {
    if case .inFlight = machine.state { activity = .transferring(transferring) } else { activity = .deciding }
  }

  // MARK: Requests

  private var isPaused: Bool { slot.rateShare?.isPaused(nowMilliseconds: now) ?? false }

  /// Leaves the slot to the next upload if this one only waits for its recording from now on, and takes one again if the server
  /// has lost its upload.
  /// - Returns: false if it cannot yet.
  private func takeFittingSlot() -> Bool {
    guard let slots, machine.task.awaitsRecording != slot.isForWaiting else { return true }
    if let other = machine.task.awaitsRecording ? slots.exchange(slot) : slots.exchangeForSending(slot) {
      slot = other
      return true
    }
    return !slot.isForWaiting && slots.mayKeep(slot)
  }

  /// Whether a request can be begun, with a slot that suits it.
  private func mayBegin() -> Bool { takeFittingSlot() && slots?.mayConnect(slot, nowMilliseconds: now) ?? true }

  private func send(_ request: HTTPRequest, _ choice: ConnectionChoice) throws(UploadError) {
    if request.target.origin != machine.origin, !request.isRedirected { otherOrigin = request.target.origin }
    if isPaused {
      shared.configuration.diagnostics?("* pausing because of the rate timetable")
      activity = .held(request, choice)
      return
    }
    guard mayBegin() else {
      activity = .held(request, choice)
      return
    }
    do throws(UploadError) {
      if let connection = slot.takeConnection(to: request.target, choice) {
        return try transfer(request, over: connection)
      }
      let context = try shared.tls.context(for: request.target)
      let connector = Connector(
        to: request.target, configuration: shared.configuration, tls: context, routes: shared.routes,
        sendsFile: !slot.isForWaiting)
      activity = .connecting(connector, request)
    } catch { end(.interrupted(Interruption(error))) }
  }

  private func transfer(_ request: HTTPRequest, over connection: Connection) throws(UploadError) {
    slot.rateShare?.isLive = source?.file.isGrowing ?? false
    let wire = try compose(request)
    try source?.beginRun(wire.body)
    let transfer = Transfer(
      wire, of: source, over: connection, buffers: slot.buffers,
      timeouts: shared.configuration.timeouts, rateShare: slot.rateShare)
    activity = .transferring(Transferring(transfer: transfer, connection: connection, target: request.target))
    if let range = machine.task.nextRange, range != ahead?.range, let file = source?.file {
      // The thread reads one range at a time.
      ahead = nil
      ahead = slot.buffers.hashAhead(range, of: file)
    }
  }

  private func compose(_ request: HTTPRequest) throws(UploadError) -> WireRequest {
    composer.hideCookies(of: request)
    let (complete, wire) = try composer.compose(request)
    composer.trace(shared.configuration.diagnostics).show(complete)
    return wire
  }

  private func advance(_ transferring: Transferring, _ ready: Readiness) throws(UploadError) -> Wait? {
    let transfer = transferring.transfer
    let step: TransferStep
    do throws(UploadError) { step = try transfer.step(ready, nowMilliseconds: now) } catch {
      end(.failed(error))
      return nil
    }
    if let progress = transfer.takeProgress() { report(progress) }
    switch step {
    case .wait(let wait): return wait
    case .sent: try sendNext(after: transfer)
    case .answered(let response, let sent, let milliseconds):
      if let route = transferring.connection.route { shared.routes.memory.noteResponse(of: route.address) }
      let cutAfter = sent == .partial ? transfer.cutAfterMilliseconds : nil
      let link = machine.task.asksOfLink ? LinkCounts(of: transferring.connection.stream.descriptor) : nil
      machine.handle(event(response, sent, milliseconds, cutAfter: cutAfter, transfer.sentRun, link))
      // Without a request that counts, the connection is free, or unusable.
      guard machine.inFlightCount == 0 else { return nil }
      if transfer.canReuseConnection {
        slot.keep(transferring.connection, to: transferring.target, isPromised: transfer.promisesReuse)
      }
      activity = .deciding
    case .interrupted(let interruption):
      noteSilence(of: transferring, interruption)
      end(.interrupted(interruption))
    case .lastByteNext:
      machine.handle(.lastByteNext)
      try sendNext(after: transfer)
    case .statusChanged(let statusChange):
      machine.handle(.statusChanged(statusChange))
      resume(transferring)
      if case .holding = machine.state {
        activity = .transferring(transferring)
        try act(next())
      }
    }
    return nil
  }

  /// - Parameter progress: that of the request in flight.
  private func report(_ progress: UploadProgress) {
    guard let delivered = machine.task.deliveredInParts else { return hooks.onProgress(progress) }
    if machine.task.gainsByConnections { connections.expectGain() }
    connections.update(
      delivered: delivered + arrivedOfFile + helpers.arrived, over: helpers.count + 1, nowMilliseconds: now)
    reportProgress()
  }

  /// The next attempt goes elsewhere if a connection stops moving, or ends without any response.
  private func noteSilence(of transferring: Transferring, _ interruption: Interruption) {
    guard let route = transferring.connection.route else { return }
    let isStall: Bool
    switch interruption.error {
    case .timedOut(.delivering, _, _): return
    case .timedOut(let phase, _, _): isStall = phase == .sending
    case .connectionLost(_, _, let error):
      // A server that got nothing closes the connection, too.
      isStall = error?.code == SHIM_ETIMEDOUT || (interruption.sent == .partial && interruption.arrived == 0)
    default: return
    }
    guard isStall || !transferring.transfer.hasResponded else { return }
    shared.routes.memory.noteSilence(
      of: route.address, host: route.host, hasArrived: !isStall || interruption.arrived > Limits.narrowEvidence)
  }

  /// A request was sent, and another one may be pipelined, or its end is about to be sent, and that is saved first.
  private func sendNext(after transfer: Transfer) throws(UploadError) {
    switch next() {
    case .send(let request, _):
      do throws(UploadError) { transfer.append(try compose(request)) } catch { end(.failed(error)) }
    case .save(let change):
      save(change)
      try sendNext(after: transfer)
    case .await: break
    case let action:
      activity = .deciding
      try act(action)
    }
  }

  private func event(
    _ response: Response, _ sent: ContentSent, _ milliseconds: Int64, cutAfter: Int64?, _ run: SentRun?,
    _ link: LinkCounts?
  ) -> UploadEvent {
    do throws(UploadError) {
      return .answered(
        try Answer(
          decoding: response, sent: sent, afterMilliseconds: milliseconds, cutAfterMilliseconds: cutAfter,
          run: run, link: link, &composer, tell: shared.configuration.diagnostics))
    } catch { return .failed(error) }
  }
}

/// Other connections that send parts of the same recording.
extension UploadDriver {
  struct Helpers {
    fileprivate var count = 0
    /// What has arrived of the parts that they send, in bytes.
    fileprivate var arrived: Int64 = 0
    /// When the progress is reported next while this connection has nothing to send.
    fileprivate var nextReportMilliseconds: Int64 = .min
  }

  func takeHelper(nowMilliseconds: Int64) -> (any Steppable)? {
    // Asked after each step.
    guard connections.mayAdd(to: helpers.count + 1, arrived: helpers.arrived, nowMilliseconds: nowMilliseconds),
      let slots, case .transferring = activity, let file = source?.file,
      slots.connectionCount < shared.configuration.connections.most, let (part, composer) = lendPart()
    else { return nil }
    guard let slot = slots.takeToHelp() else {
      note(.failed, of: part.id)
      return nil
    }
    helpers.count += 1
    return PartSender(part, composer, of: file, for: self, slot: slot, slots: slots, shared)
  }

  /// A part for a connection that has sent another one, and what adds credentials to its requests.
  /// - Returns: nil if it is not needed any more.
  func lendNextPart() -> (part: LentPart, composer: RequestComposer)? {
    // Another upload may have begun.
    let isNeeded =
      helpers.count < connections.wanted
      && slots?.connectionCount ?? 0 <= shared.configuration.connections.most
    return isNeeded ? lendPart() : nil
  }

  private func lendPart() -> (part: LentPart, composer: RequestComposer)? {
    guard let delivered = machine.task.deliveredInParts, connections.mayLend(delivered: delivered),
      let part = machine.lendPart()
    else { return nil }
    return (part, composer)
  }

  /// How much has arrived of a part, in bytes.
  var arrivedOfPart: Int64 { (machine.task.deliveredInParts ?? 0) + arrivedOfFile }

  /// How many bytes of the range of the file in the current request have arrived.
  private var arrivedOfFile: Int64 {
    if case .transferring(let transferring) = activity { transferring.transfer.arrivedOfFile } else { 0 }
  }

  /// Further bytes of a part have arrived.
  func helperProgressed(by count: Int64, nowMilliseconds now: Int64) {
    helpers.arrived += count
    guard case .awaitingLent = activity, now >= helpers.nextReportMilliseconds else { return }
    helpers.nextReportMilliseconds = now + Limits.progressIntervalMilliseconds
    reportProgress()
  }

  private func reportProgress() {
    guard let delivered = machine.task.deliveredInParts, let file = source?.file else { return }
    let arrived = delivered + arrivedOfFile + helpers.arrived
    hooks.onProgress(file.progress(delivered: arrived, isInOrder: machine.task.sendsInOrder, nowMilliseconds: now))
  }

  /// What has become of a part that a helper sends.
  func note(_ progress: LentPart.Progress, of part: LentPart.ID) {
    if case .taken = progress { connections.noteSentPart() }
    if progress == .failed, machine.awaits(part) {
      connections.noteFailure(delivered: machine.task.deliveredInParts ?? 0, nowMilliseconds: now)
    }
    machine.handle(.lent(part, progress))
    if let change = machine.takeUnsaved() { save(change) }
    // What cannot be saved ends the upload.
    if case .failed = machine.state { activity = .deciding }
    if progress.isEnd, case .awaitingLent = activity { activity = .deciding }
  }

  /// - Parameter arrived: what had arrived of the part that it has not sent, in bytes.
  func helperEnded(arrived: Int64) {
    helpers.count -= 1
    helpers.arrived -= arrived
  }
}

/// The callbacks of a driver, and the saving of its record.
struct DriverHooks {
  var onProgress: (UploadProgress) -> Void = { _ in }
  var onRetry: (Retry) -> Void = { _ in }
  /// The response behind the retry or the outcome that is reported next.
  var onAnswer: (RedactedAnswer) -> Void = { _ in }
  /// The server has refused a form as too large, and tus is tried.
  var onFormTooLarge: () -> Void = {}
  /// The server has not deleted these uploads, which nothing needs any more.
  /// - Returns: whether a later run tries again.
  var noteUndeleted: ([TargetURI]) -> Bool = { _ in false }
  var save: (RecordChange) throws(UploadError) -> Void = { (_) throws(UploadError) in }
}

extension Limits {
  /// How often an upload that found no place to wait, or may not connect yet, looks again, in milliseconds.
  static let waitingPlaceMilliseconds: Int64 = 50
  /// If no more content was acknowledged, in bytes, perhaps only short packets pass.
  static let narrowEvidence: Int64 = 65_536
  /// How often the time is compared with a timetable in a pause, when nothing is sent, in milliseconds.
  static let ratePauseMilliseconds: Int64 = 10_000
  /// How long a request over tus may take when the upload is to end soon, in milliseconds.
  static let finishMilliseconds: Int64 = 60_000
}
