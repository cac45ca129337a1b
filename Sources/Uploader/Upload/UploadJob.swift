import UploadCore

/// One upload from its request to its outcome: opens the file and the record, runs the driver, and updates the record.
final class UploadJob: Steppable {
  private enum State {
    /// The file and its record are not open yet. Opening is retried until this time.
    case opening(untilMilliseconds: Int64?)
    /// The recording grows, and there is not enough of it for a part.
    case growing(SourceFile)
    /// Another job is sending the same recording. It is opened again when a job has ended.
    case queued
    /// It was delivered, and may have been changed since: its content is compared.
    case comparing(FileHasher, SourceFile, FileIdentity, PreviousDelivery)
    case running(UploadDriver, SourceFile)
    /// It is delivered, and GigHive is asked whether it still has it, before the file is removed.
    case examining(UploadDriver, FileRemoval, SentRecording)
    case delivered(Delivery)
  }

  private var state = State.opening(untilMilliseconds: nil)
  private var request: UploadRequest
  /// Whether the recording has been moved to another directory while it was made.
  private var hasMoved = false
  /// The index of the request, for the caller.
  let index: Int
  private(set) var slot: UploadSlot
  private let slots: UploadSlots
  private let shared: SharedResources
  private let hooks: DriverHooks
  private let onRecord: (String) -> Void
  private let isCancelledByCaller: () -> Bool
  private var record: LockedRecord?
  private var isFinishing = false
  /// How far a recording is that is sent while it is made; nil before it was opened, and for others.
  private var growth: Growth?

  private enum Growth {
    case sending(SourceFile)
    /// It is sent to its end.
    case ended(SourceFile)
  }

  init(
    _ request: UploadRequest, index: Int, slot: UploadSlot, of slots: UploadSlots, shared: SharedResources,
    hooks: DriverHooks, onRecord: @escaping (String) -> Void, isCancelled: @escaping () -> Bool = { false }
  ) {
    self.request = request
    self.index = index
    self.slot = slot
    self.slots = slots
    self.shared = shared
    self.hooks = hooks
    self.onRecord = onRecord
    isCancelledByCaller = isCancelled
  }

  /// The ID of its record; nil if it has none.
  var recordID: String? { record?.record.id }

  /// The confirmation, once the job has ended without an error.
  var delivery: Delivery? {
    switch state {
    case .opening, .growing, .queued, .comparing, .running: return nil
    case .delivered(let delivery): return delivery
    case .examining(_, _, var recording):
      recording.aftermath = .kept(.interrupted)
      return .sent(recording)
    }
  }

  // MARK: The step

  var isCancelled: Bool { isCancelledByCaller() }

  var isWaitingOnly: Bool {
    guard slot.isForWaiting else { return false }
    // An upload that the server has lost is sent again, as soon as a slot for that is free.
    if case .running(let driver, _) = state { return driver.machine.task.awaitsRecording }
    return true
  }

  var awaitsAnother: Bool { if case .queued = state { true } else { false } }

  func extendDeadlines(by milliseconds: Int64) {
    switch state {
    case .running(let driver, _), .examining(let driver, _, _): driver.extendDeadlines(by: milliseconds)
    case .opening, .growing, .queued, .comparing, .delivered: break
    }
  }

  func takeHelper(nowMilliseconds: Int64) -> (any Steppable)? {
    if case .running(let driver, _) = state { driver.takeHelper(nowMilliseconds: nowMilliseconds) } else { nil }
  }

  func finish(nowMilliseconds: Int64) {
    isFinishing = true
    if case .running(let driver, _) = state { driver.finish(nowMilliseconds: nowMilliseconds) }
  }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch state {
    case .opening, .growing, .queued, .comparing: if isFinishing { throw .cancelled(hasSentAll: false) }
    case .running, .examining, .delivered: break
    }
    switch state {
    case .opening(let until): return try begin(until, ready, now)
    case .growing(let file): return try look(at: file, ready, now)
    case .queued: return try begin(nil, ready, now)
    case .comparing(let hasher, let file, let identity, let previous):
      if let wait = try hasher.step(ready, nowMilliseconds: now) { return wait }
      try compare(try hasher.hashed(), file, identity, previous)
      return Wait(untilMilliseconds: now)
    case .running(let driver, let file): return try run(driver, file, ready, now)
    case .examining(let driver, let removal, let recording):
      return examine(driver, removal, recording, ready, now)
    case .delivered: return nil
    }
  }

  private func run(
    _ driver: UploadDriver, _ file: SourceFile, _ ready: Readiness, _ now: Int64
  ) throws(UploadError) -> Wait? {
    do throws(UploadError) {
      if let wait = try step(driver, ready, now) { return wait }
    } catch {
      guard mayGrowAgain(after: error), case .ended(let former) = growth else { throw error }
      end(growthOf: former)
      (growth, state) = (nil, .growing(former))
      return Wait(untilMilliseconds: now)
    }
    if case .ended = driver.outcome {
      end(growthOf: file)
      // The driver keeps the record locked.
      return Wait(untilMilliseconds: now)
    }
    guard case .delivered(let receipt, let sent, let resumedFrom) = driver.outcome else { return nil }
    if driver.machine.task.sendsWhole, request.isForGigHive {
      record?.directory.noteAcceptedForm(request, length: sent.size)
    }
    hooks.onProgress(UploadProgress(deliveredBytes: sent.size, totalBytes: sent.size))
    let recording = SentRecording(
      receipt: receipt, file: sent, resumedFrom: resumedFrom,
      durationMilliseconds: driver.now - (driver.machine.startedAtMilliseconds ?? driver.now),
      upload: record?.record.id)
    state = .delivered(.sent(recording))
    let removal = request.afterDelivery.removal
    if let record {
      // A mark can be there from an attempt that was to remove the file.
      if removal == nil {
        record.directory.clearRemovalDue(record.record.id)
      } else {
        record.directory.markRemovalDue(record.record.id)
      }
    }
    var isRecorded = record != nil
    do throws(UploadError) {
      try record?.noteDelivery(
        receipt, sent, at: file.currentPath, file.provenStatusTime, isAgain: request.sendsAgain)
    } catch {
      isRecorded = false
      shared.configuration.warnings?("delivered, but its record could not be written: " + error.message)
    }
    if file.isReplaced {
      shared.configuration.warnings?(
        PrintableText.line(file.path.text)
          + " was replaced by another file while it was sent. What it was before is delivered; what it is now is not.")
    }
    guard let removal else { return nil }
    return beginRemoval(removal, recording, file, isRecorded: isRecorded, now)
  }

  /// Whether a recording was written again after it had ended, and nothing of it is stored yet. Its parts are compared later.
  private func mayGrowAgain(after error: UploadError) -> Bool {
    guard case .file(_, let change) = error, change.isChange, change != .changedInTransit else { return false }
    return record?.record.unfinished?.isGrowing ?? false
  }

  private func step(_ driver: UploadDriver, _ ready: Readiness, _ now: Int64) throws(UploadError) -> Wait? {
    defer { slot = driver.slot }
    do throws(UploadError) { return try driver.step(ready, nowMilliseconds: now) } catch {
      shared.refusedCredentials.note(error, of: request.base.origin, nowMilliseconds: now)
      throw error
    }
  }

  // MARK: After the delivery

  /// - Parameter isRecorded: whether the delivery is on the disk.
  private func beginRemoval(
    _ removal: AfterDelivery.Removal, _ recording: SentRecording, _ file: SourceFile, isRecorded: Bool, _ now: Int64
  ) -> Wait? {
    guard isRecorded, let record else { return keep(.notRecorded, recording) }
    // Whoever allows its removal knows it by the name that it had, or found it in this directory.
    guard record.record.file.path == request.file.absolute ?? request.file, !hasMoved || request.foundBelow != nil
    else { return keep(.gone, recording) }
    if file.mayBeWritten { return keep(.beingWritten, recording) }
    let fileRemoval: FileRemoval
    let requirement: StoredRecording?
    do throws(KeptReason) {
      fileRemoval = FileRemoval(
        file, record, removal, at: request.file,
        from: try FileRemoval.parent(of: request.file, below: request.foundBelow),
        trustsSettle: request.afterDelivery.trustsSettle, mayRemove: shared.configuration.mayRemove)
      try fileRemoval.check()
      requirement = try request.afterDelivery.requirement(for: record.record, isForGigHive: request.isForGigHive)
    } catch { return keep(error, recording) }
    guard let stored = requirement else { return remove(fileRemoval, recording) }
    if let error = shared.silentServers.error(of: stored.base.origin, now) {
      return keep(.unanswered(error), recording)
    }
    do throws(UploadError) {
      let driver = UploadDriver(
        try UploadMachine(.examine(stored), try shared.examinationPolicy()), slot: slot, shared: shared,
        composer: RequestComposer(shared.configuration, origin: stored.base.origin))
      state = .examining(driver, fileRemoval, recording)
      return examine(driver, fileRemoval, recording, [], now)
    } catch { return keep(.unanswered(error), recording) }
  }

  private func examine(
    _ driver: UploadDriver, _ removal: FileRemoval, _ recording: SentRecording, _ ready: Readiness, _ now: Int64
  ) -> Wait? {
    do throws(UploadError) {
      if let wait = try driver.step(ready, nowMilliseconds: now) { return wait }
    } catch {
      let reason = KeptReason.unanswered(error)
      if reason.isSilence { shared.silentServers.note(error, of: request.base.origin, now) }
      return keep(reason, recording)
    }
    shared.silentServers.noteAnswer(of: request.base.origin)
    guard case .examined(let absence) = driver.outcome else { return keep(.interrupted, recording) }
    if let reason = request.afterDelivery.keptReason(for: absence) { return keep(reason, recording) }
    return remove(removal, recording)
  }

  private func remove(_ removal: FileRemoval, _ recording: SentRecording) -> Wait? {
    var recording = recording
    do throws(KeptReason) { recording.aftermath = .removed(to: try removal.run(askedAs: request.file)) } catch {
      return keep(error, recording)
    }
    state = .delivered(.sent(recording))
    return nil
  }

  private func keep(_ reason: KeptReason, _ recording: SentRecording) -> Wait? {
    var recording = recording
    recording.aftermath = .kept(reason)
    state = .delivered(.sent(recording))
    if reason.endsRemoval, let record { record.directory.clearRemovalDue(record.record.id) }
    return nil
  }

  // MARK: Opening

  private func begin(_ until: Int64?, _ ready: Readiness, _ now: Int64) throws(UploadError) -> Wait? {
    if let (driver, file) = try open(until, now) {
      state = .running(driver, file)
      return try run(driver, file, ready, now)
    }
    if case .delivered = state { return nil }
    return Wait(untilMilliseconds: awaitsAnother ? .max : now + Limits.stateLockPauseMilliseconds)
  }

  /// A recording that has ended, or of which there is enough for the first part that is sent, is opened.
  private func look(at file: SourceFile, _ ready: Readiness, _ now: Int64) throws(UploadError) -> Wait? {
    let hasEnded: Bool
    do throws(FileError) { hasEnded = try file.hasEnded(nowMilliseconds: now) } catch { throw .file(file.path, error) }
    if file.cancelsUpload { throw .file(file.path, .removed) }
    if hasEnded {
      end(growthOf: file)
      return try begin(nil, ready, now)
    }
    // Without a record, nobody would know what was sent.
    if let live = request.live, request.joinsParts, shared.configuration.stateDirectory != nil,
      file.size >= live.startingSize
    {
      growth = .sending(file)
      return try begin(nil, ready, now)
    }
    hooks.onProgress(file.progress(delivered: 0, nowMilliseconds: now))
    return Wait(untilMilliseconds: now + Limits.growthMilliseconds)
  }

  private func end(growthOf file: SourceFile) {
    growth = .ended(file)
    if let record {
      request.upload = record.record.id
      slots.end(recordID: record.record.id)
    }
    record = nil
    state = .opening(untilMilliseconds: nil)
  }

  /// Opens the file as it is now.
  /// - Returns: nil if the recording grows, and there is not enough of it yet.
  private func openFile() throws(FileError) -> SourceFile? {
    let limit = request.sizeLimit
    let file: SourceFile
    switch growth {
    case .sending(let former): file = try former.renewed(limit: limit, isGrowing: true)
    case .ended(let former): file = try former.renewed(limit: limit, isGrowing: false)
    case nil:
      // What was judged to be finished is.
      if request.judged == nil, let live = request.live {
        let growth = GrowingFile(live)
        state = .growing(try SourceFile.open(request.file, limit: limit, below: request.foundBelow, growth: growth))
        if !request.joinsParts {
          shared.configuration.warnings?(GrowingFile.waiting(request.file))
        }
        return nil
      }
      file = try SourceFile.open(request.file, limit: limit, below: request.foundBelow)
      try judge(file)
    }
    return file
  }

  /// - Parameter until: when to stop waiting for the state directory; nil at the first attempt.
  /// - Returns: nil if another process has locked the state directory, or has a lease on the file, for now, if another job is sending
  ///   the recording, if it was delivered before, or if there is not enough of a recording that grows.
  private func open(_ until: Int64?, _ now: Int64) throws(UploadError) -> (UploadDriver, SourceFile)? {
    var request = request
    if case .gigHive(let base, let form) = request.destination {
      do throws(EventFormError) { try form.validate() } catch { throw .form(error) }
      // Once, so that a retry after midnight is for the same event.
      request.destination = .gigHive(base, form.completed(today: EventForm.today()))
    }
    let file: SourceFile
    do throws(FileError) {
      guard let opened = try openFile() else { return nil }
      file = opened
      // A recording that is made may have got another name. The server knows it by the first one.
      if file.path != request.file {
        if request.firstName == nil { self.request.firstName = Array(request.file.lastComponentBytes) }
        if !file.path.directory.leadsTo(sameAs: request.file.directory) { hasMoved = true }
      }
      self.request.file = file.path
      (request.file, request.firstName) = (file.path, self.request.firstName)
    } catch {
      if request.judged != nil, case .unreadable(let cause) = error, cause.isPassing {
        throw .file(request.file, .unsettled(.unknown(cause)))
      }
      if case .unreadable(let cause) = error, cause.isLease, waits(until, for: Limits.leaseMilliseconds, now) {
        let name = PrintableText.line(request.file.lastComponent)
        if until == nil { shared.configuration.warnings?(name + ": waiting for a program that has a lease on it.") }
        return nil
      }
      guard let previous = try delivery(ofMissing: request.file) else { throw .file(request.file, error) }
      return end(with: previous)
    }
    switch try openRecord(for: file) {
    case .none: break
    case .inProgress:
      // The other job may need the slot.
      if let other = slots.exchange(slot, isQueued: true) { slot = other }
      state = .queued
      return nil
    case .delivered(let previous): return end(with: previous)
    case .comparable(let identity, let previous):
      file.noteWriters()
      let hasher = try FileHasher(TransferSource(file: file, digest: nil), .wholeFile, buffers: slot.buffers)
      state = .comparing(hasher, file, identity, previous)
      return nil
    case .busy(let path, let identity):
      if waits(until, for: Limits.stateLockMilliseconds, now) { return nil }
      if let previous = try continueWithoutRecord(.state(.locked(path)), for: file, identity) {
        return end(with: previous)
      }
    case .open(let opened):
      record = opened
      slots.begin(recordID: opened.record.id)
      onRecord(opened.record.id)
    }
    if let error = shared.refusedCredentials.error(of: request.base.origin, nowMilliseconds: now) { throw error }
    warn(of: file)
    file.noteWriters()
    file.adviseReading()
    return (try driver(request, file), file)
  }

  private func warn(of file: SourceFile) {
    if case .sending = growth { return }
    if case .ended = growth, file.isRemoved {
      let name = PrintableText.line(request.file.lastComponent)
      shared.configuration.warnings?(name + ": was removed while it was being made. It is sent nevertheless.")
    }
    guard growth != nil || record?.record.remote == nil, let warning = file.unwrittenWarning else { return }
    shared.configuration.warnings?(warning)
  }

  /// Nothing is sent, because the recording was delivered before.
  private func end(with previous: PreviousDelivery) -> (UploadDriver, SourceFile)? {
    state = .delivered(.deliveredBefore(previous))
    return nil
  }

  /// Whether to wait for another process, which began now if there is no end of it yet.
  private func waits(_ until: Int64?, for milliseconds: Int64, _ now: Int64) -> Bool {
    let until = until ?? now + milliseconds
    state = .opening(untilMilliseconds: until)
    return now < until
  }

  /// Refuses a file that is not, or no longer, the finished recording that it was judged to be.
  private func judge(_ file: SourceFile) throws(FileError) {
    guard let judged = request.judged else { return }
    guard file.isStill(judged) else { throw .unsettled(.changed) }
    switch file.writers() {
    case .noWriter, .undetectable: break
    case .writer: throw .unsettled(.beingWritten)
    case .notNow(let error): throw .unsettled(.unknown(error))
    }
  }

  /// What the record of an upload to resume says about a file that cannot be opened.
  /// - Returns: nil if there is no record, or if it says nothing.
  /// - Throws: where the file is.
  private func delivery(ofMissing file: LocalPath) throws(UploadError) -> PreviousDelivery? {
    guard let upload = request.upload, let path = shared.configuration.stateDirectory,
      let directory = try? stateDirectory(path), let record = try? directory.record(upload),
      record.file.path == file
    else { return nil }
    if record.phase == .delivered { return PreviousDelivery(record) }
    switch record.locateFile() {
    case .gone: throw .file(file, .gone(upload: record.id))
    case .waitingForMedium: throw .file(file, .waitingForMedium(upload: record.id))
    case .present, .unknown: return nil
    }
  }

  private func driver(_ request: UploadRequest, _ file: SourceFile) throws(UploadError) -> UploadDriver {
    let hasPart = record?.record.remote != nil || record?.record.unfinished?.parts != nil
    if request.uploadProtocol == .multipart, request.isForGigHive, hasPart {
      try record?.updateUpload { $0.forget() }
    }
    if request.isForWebDAV, record == nil { throw .state(.noDirectory) }
    let request = record?.directory.adapted(request) ?? request
    let plan = UploadPlan(
      request, size: file.size, isGrowing: file.isGrowing,
      isAppended: file.isGrowing && request.isForTus && file.isAppended(using: slot.buffers.ring.writableRun),
      previous: record?.record.unfinished ?? UnfinishedUpload(), recordID: record?.record.id,
      superseded: record?.superseded.flatMap { try? TargetURI($0) }, modifiedSeconds: file.modifiedSeconds,
      isGuest: shared.configuration.credentials.areGuests,
      verifiesCertificate: !shared.configuration.tls.isInsecure,
      connections: shared.configuration.connections, boundary: Boundary(random: try RandomBytes.bytes(16)))
    var hooks = hooks
    let record = record
    let keepsCookies = shared.configuration.allowsSharedSecrets || record?.isPrivate ?? false
    hooks.save = { (change) throws(UploadError) in
      if case .cookies = change, !keepsCookies { return }
      try record?.updateUpload {
        $0.apply(change, size: file.size, statusTime: file.provenStatusTime)
        // Unless the process is killed, the message of the outcome follows.
        if $0.failure == .mayBeStored { $0.message = UploadError.killedBeforeResponseText }
      }
    }
    let onRetry = hooks.onRetry
    hooks.onRetry = {
      // It may wait for long. Without space, that is reported when something depends on it.
      try? record?.sync()
      onRetry($0)
    }
    hooks.noteUndeleted = { uploads in
      // Nobody else gets the credentials.
      let uploads = uploads.filter { $0.origin == request.base.origin }
      return !uploads.isEmpty && record?.directory.changeUndeleted { $0.add(uploads) } ?? false
    }
    hooks.onFormTooLarge = { record?.directory.noteRefusedForm(request, length: file.size) }
    var policy = try shared.policy()
    policy.retries.endsAfterFullSend = request.judged != nil
    return UploadDriver(
      try UploadMachine(.upload(plan), policy),
      of: TransferSource(file: file, digest: plan.computesSHA256 ? try FileDigest(withMD5: plan.computesMD5) : nil),
      slot: slot,
      slots: slots, shared: shared, composer: RequestComposer(shared.configuration, for: request),
      hooks: hooks)
  }

  private enum RecordAccess {
    /// No record is kept, or none is possible.
    case none
    /// Another process has locked the directory.
    case busy(LocalPath, FileIdentity)
    case open(LockedRecord)
    /// The same recording is already being uploaded by this process.
    case inProgress
    case delivered(PreviousDelivery)
    /// Its content has to be compared with that of an earlier delivery.
    case comparable(FileIdentity, PreviousDelivery)
  }

  private func openRecord(for file: SourceFile) throws(UploadError) -> RecordAccess {
    guard let path = shared.configuration.stateDirectory else { return .none }
    slot.buffers.clear()
    let identity = try file.identity(
      using: slot.buffers.ring.writableRun, on: shared.fileSystems.kind(of: file))
    do throws(UploadError) {
      let directory = try stateDirectory(path)
      if request.afterDelivery.removal != nil {
        directory.reserveForRemovals(in: request.foundBelow ?? request.file.directory)
      }
      switch try record(for: file, identity, in: directory) {
      case .open(let record): return .open(record)
      case .busy: return .busy(path, identity)
      case .delivered(let previous): return access(to: previous, identity)
      }
    } catch {
      if case .conflict(let upload) = error, slots.recordIDs.contains(upload) { return .inProgress }
      return try continueWithoutRecord(error, for: file, identity).map { access(to: $0, identity) } ?? .none
    }
  }

  private func access(to previous: PreviousDelivery, _ identity: FileIdentity) -> RecordAccess {
    previous.evidence == .comparable && !request.defersComparison
      ? .comparable(identity, previous) : .delivered(previous)
  }

  private func stateDirectory(_ path: LocalPath) throws(UploadError) -> StateDirectory {
    do throws(StateError) { return try shared.openState(path) } catch { throw .state(error) }
  }

  private func record(
    for file: SourceFile, _ identity: FileIdentity, in directory: StateDirectory
  ) throws(UploadError) -> OpenedRecord {
    if request.endsWithDelivery, let previous = directory.untouchedDelivery(of: request, identity) {
      return .delivered(previous)
    }
    return try LockedRecord.open(for: file, identity, of: request, in: directory)
  }

  /// Continues without a record, or fails: an interrupted tus upload could not be resumed, but a form can be sent, unless it is
  /// already delivered.
  /// - Returns: the earlier delivery; nil to continue.
  private func continueWithoutRecord(
    _ error: UploadError, for file: SourceFile, _ identity: FileIdentity
  ) throws(UploadError) -> PreviousDelivery? {
    let isGuest = shared.configuration.credentials.areGuests
    // A missing record was cancelled. One that cannot be read may say that the server has the file, and only GigHive detects duplicates.
    if case .state(.noSuchRecord) = error { throw error }
    if request.upload != nil, !request.isForGigHive { throw error }
    guard case .state = error, !request.needsRecord, !request.isForWebDAV, !file.isGrowing,
      !request.prefersTus(size: file.size, isGuest: isGuest)
    else {
      throw error
    }
    let directory = readableDirectory()
    do throws(UploadError) {
      if let previous = try earlierDelivery(of: file, identity, in: directory) { return previous }
    } catch let finding {
      // If the same record cannot be read, it may say that the recording is delivered.
      guard case .state = finding, finding != error || request.isForGigHive else { throw finding }
    }
    // Nothing would be noted of what it replaces.
    if let directory, request.replacesUnasked || request.mayReplace,
      let other = try RecordSearch.reservation(for: file, identity, of: request, in: directory)
    {
      throw request.replacesUnasked ? .objectRecorded(upload: other) : error
    }
    // The other process may be sending it.
    if case .state(.locked) = error, !request.isForGigHive { throw error }
    let loss = if case .gigHive = request.destination { ", and its delete token is not kept." } else { "." }
    shared.configuration.warnings?(error.message + " The recording is sent without a record" + loss)
    return nil
  }

  /// Looks for the recording in records that cannot be written.
  private func earlierDelivery(
    of file: SourceFile, _ identity: FileIdentity, in directory: StateDirectory?
  ) throws(UploadError) -> PreviousDelivery? {
    guard request.upload == nil, let directory else { return nil }
    let finding = try RecordSearch.find(for: file, identity, of: request, in: directory)
    return if case .delivered(let previous) = finding { previous } else { nil }
  }

  /// nil if there is none. One that this process may not enter is another user's.
  private func readableDirectory() -> StateDirectory? {
    let warnings = shared.configuration.warnings
    guard let path = shared.configuration.stateDirectory,
      let directory = try? StateDirectory(existing: path, warn: { warnings?($0) })
    else { return nil }
    directory.cancellation = shared.state.cancellation
    return directory
  }

  // MARK: Comparing

  /// The whole file was read. The record of its delivery gets what identifies it now, so that it need not be read again.
  /// If it has the content that was delivered, nothing is left to do. Otherwise it is sent.
  private func compare(
    _ result: HashResult, _ file: SourceFile, _ identity: FileIdentity, _ previous: PreviousDelivery
  ) throws(UploadError) {
    guard case .wholeFile(let sha256, true, _) = result else {
      throw .file(request.file, request.judged == nil ? .rewritten : .unsettled(.changed))
    }
    guard let path = shared.configuration.stateDirectory, let directory = try? stateDirectory(path),
      let record = try? directory.current(previous.upload), record.delivery?.sha256 == sha256
    else {
      shared.configuration.warnings?(
        PrintableText.line(request.file.text) + " was delivered before (upload " + previous.upload
          + "), but its content is another one now. It is sent.")
      request.sendsAgain = true
      state = .opening(untilMilliseconds: nil)
      return
    }
    // Without that, it is compared again.
    if let record = try? LockedRecord.reopen(previous.upload, in: directory) {
      try? record.noteComparison(with: file, identity)
    }
    _ = end(with: PreviousDelivery(record, otherEvent: previous.otherEvent))
  }

  // MARK: The end

  /// Unlocks the record, so that the caller can work with it as soon as it is told.
  /// - Returns: what the caller is told.
  func close(with error: UploadError?) -> Result<Delivery, UploadError> {
    let outcome: Result<Delivery, UploadError> =
      delivery.map { .success($0) } ?? .failure(end(with: error ?? .cancelled(hasSentAll: false)))
    (record, state) = (nil, .queued)
    return outcome
  }

  /// The job has ended with an error: its record gets its last change.
  /// - Returns: what the caller is told.
  func end(with error: UploadError) -> UploadError {
    let end: UploadEnd
    var answer: RedactedAnswer?
    if case .running(let driver, _) = state {
      end = driver.machine.end(with: error, driver.facts)
      answer = driver.answer
    } else {
      end = UploadEnd(error, offset: record?.record.offset ?? 0)
    }
    guard let record else { return end.error }
    record.releaseSpace()
    // What was cancelled leaves no record, unless the server may still have something of it.
    if case .file(_, .removed) = error, record.superseded == nil, record.record.unfinished?.hasNothingLeft ?? true {
      do throws(UploadError) { try record.remove() } catch { shared.configuration.warnings?(error.message) }
      return end.error
    }
    do throws(UploadError) {
      try record.updateUpload {
        $0.apply(end) { if case .cancelled = $0 { nil } else { $0.cause.message(after: answer) } }
      }
    } catch { shared.configuration.warnings?(error.message) }
    return end.error
  }
}

extension Limits {
  /// How long to wait for a program that has a lease on the file. The kernel ends a lease after 45 s (fs.lease-break-time).
  static let leaseMilliseconds: Int64 = 60_000
}
