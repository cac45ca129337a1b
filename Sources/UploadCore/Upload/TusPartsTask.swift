/// One recording that a tus server gets in parts, while it is made or over several connections. Each part is an upload of its own, which
/// continues after an interruption as any other (``TusUpload``), and which the server joins with the others at the end (the concatenation
/// extension). ``TusTask`` does the rest.
///
/// While the recording grows, its recorder may write what is being sent. So what was sent of a part is compared with what was hashed (``SentRun``).
///
///     asking ──▶ growing ⇄ hashing ⇄ sending         growing ──▶ ended, once nobody writes to the file any more
///
/// Then another task continues with the file as it is. It compares all parts but the first one with the file before it sends that:
///
///     asking ──▶ locating ──▶ hashing ⇄ sending ──▶ matching ──▶ hashing ⇄ sending ──▶ examiningFile ──▶ joining ──▶ removing ──▶ whole
///                  │  ▲                               │  ▲
///                  ▼  │ (not of use)                  ▼  │ (rewritten)
///                removing                           removing
///
/// A finished recording is sent in this way, too, if several connections are wanted: they send parts that this task lends (``PartTask``). What
/// they have not sent yet is waited for (`awaitingLent`) before the parts are compared or joined.
///
/// So is one whose upload was begun as a whole, if packets are lost: that upload is removed first.
///
/// A server that joins none gets a recording to which its recorder only appends as one upload of unknown length (creation-defer-length), in order.
/// What was sent of it is compared in the same parts, and ``TusTask`` continues it with the end:
///
///     asking ──▶ matching ──▶ sent
final class TusPartsTask: UploadTask {
  private enum State: Sendable {
    /// What the server supports.
    case asking
    /// It joins no uploads.
    case unsupported
    /// The recording has not grown enough for the part with this number; nil if it is not sent before it has ended.
    case growing(Int?)
    /// It has ended. What is left is sent by a task that knows its size.
    case ended
    /// Whether the server has the part with this number, which an earlier process has sent.
    case locating(Int)
    case hashing(Int)
    case sending(Int, sha256: String)
    /// What is missing is lent.
    case awaitingLent
    /// Whether the part with this number is what the file has now.
    case matching(Int)
    /// Whether the file is still what was compared with the parts.
    case examiningFile
    case joining
    /// End uploads. There is at least one.
    case removing([TargetURI], then: Continuation)
    /// The server has the whole recording, in one upload at this URL, or nothing of it.
    case whole(TargetURI?)
    /// The server has the beginning of the recording, in one upload at this URL.
    case sent(TargetURI)
    case failing(UploadError)
  }

  private enum Continuation: Sendable {
    /// The recording is sent in parts, instead of as the upload that was removed.
    case ask
    /// The part with this number, and all behind it, are asked for.
    case locate(Int)
    /// It is sent again.
    case send(Int)
    /// The one behind it is compared.
    case match(Int)
    /// Nothing is sent in parts.
    case leave
    case fail(UploadError)
    case finish(TargetURI)
  }

  private let plan: UploadPlan
  /// Bytes; while the recording grows, ``UploadedParts/unknownSize``.
  private let size: Int64
  private var state = State.asking
  private var parts: UploadedParts
  /// What the server supports.
  private var offer = TusCapabilities()
  /// The part that is sent, or was sent last.
  private var part: TusUpload?
  /// Its number; that of the last part in it if they are sent in order.
  private var partNumber = 0
  /// Its SHA-256 when this process began to send it.
  private var partSHA256 = ""
  /// What was read of the part in order to send it, if nothing shows that this is what was hashed.
  private var run: SentRun?
  /// Whether the parts that were sent while the recording grew have been compared with it.
  private var areMatched: Bool
  /// The file's status time when all of them were compared once more, because it had changed.
  private var matchedAt: StatusTime?
  /// The numbers of the parts that other connections send.
  private var lent: [Int] = []
  /// Whether the server has refused to join them. What helps the first time does not help again.
  private var wasRefused = false
  /// How often it was asked to, also by earlier processes, and why it has not done so.
  private var joins: Int64
  private var joinError: UploadError?
  /// How often the request that ends an upload has failed.
  private var removalFailures = 0
  /// Uploads that nothing needs any more, and that the server has not ended, or never will.
  private var left: [(upload: TargetURI, fate: PartsFate)] = []
  /// How much the server had before anything was sent, in bytes.
  private let resumedFrom: Int64
  private let isForLoss: Bool

  /// - Parameter former: an upload of the recording that is ended first, because packets are lost, so that parts take less time.
  init(_ plan: UploadPlan, leaving former: TargetURI? = nil) {
    self.plan = plan
    size = plan.isGrowing ? UploadedParts.unknownSize : plan.size
    parts =
      plan.previous.parts ?? UploadedParts(growing: plan.boundary.token, step: Limits.growingUploadsStep)
    resumedFrom = parts.total(in: size)
    joins = plan.previous.joins
    areMatched = plan.previous.parts == nil
    isForLoss = former != nil
    super.init()
    if plan.isGrowing {
      // What was begun as one upload is continued when the recording has ended.
      if plan.previous.location != nil || plan.superseded != nil { state = .unsupported }
    } else if let former {
      remove([former], then: .ask)
    } else if let location = plan.previous.location {
      remove(uploads, then: .finish(location))
    } else if !parts.fit(size) {
      remove(uploads, then: .leave)
    }
  }

  // MARK: What is asked of it

  override var gainsByConnections: Bool { isForLoss }

  /// The bytes that the server has, and more with everything that need not be repeated after a failure.
  override var progress: Int64 {
    switch state {
    case .asking, .unsupported, .growing, .ended, .locating, .awaitingLent, .matching, .removing, .failing,
      .whole(nil), .sent:
      parts.total(in: size)
    case .hashing(let number), .sending(let number, _):
      // Asked for with each write, so no URL is made.
      parts.total(in: size) + (number == partNumber && parts.tag(of: number) != nil ? partProgress : 0)
    case .examiningFile, .joining: size + 1
    case .whole: size + 2
    }
  }

  /// How much the server has of the part that is sent, in bytes.
  private var partProgress: Int64 {
    guard let part else { return 0 }
    return parts.areInOrder ? max(0, part.progress - parts.total(in: size)) : part.progress
  }

  override var lastOffset: Int64 { parts.total(in: size) }

  override var deliveredInParts: Int64? { progress }

  override var sendsInOrder: Bool { parts.areInOrder }

  override var comparesParts: Bool { true }

  override var isComparedLater: Bool { true }

  /// Whether the server has had everything, and only the outcome is missing.
  override var awaitsOutcome: Bool { progress > size }

  /// Whether the server does not join parts.
  override var joinsNothing: Bool {
    guard case .unsupported = state else { return false }
    return plan.previous.location == nil && plan.superseded == nil
  }

  /// Whether the request in flight is about an upload that is not needed. What stays of it takes space, so some failures are retried.
  override var isTidying: Bool {
    if case .removing = state { removalFailures >= Limits.abortRetries } else { false }
  }

  /// Whether it has begun anything on the server.
  override var hasUpload: Bool { !parts.tags.isEmpty }

  private var endpoint: TargetURI { plan.request.tusTarget }

  /// The URL of the part with this number, if the server has at least its beginning.
  private func location(of number: Int) -> TargetURI? {
    parts.tag(of: number).flatMap { try? endpoint.resolving($0) }
  }

  /// All that the server has of the recording.
  private var uploads: [TargetURI] { parts.uploads(createdAt: endpoint) }

  // MARK: Requests

  override func next() throws(UploadError) -> TaskStep {
    switch state {
    case .asking: return .ask(HTTPRequest(method: "OPTIONS", target: endpoint))
    case .unsupported: return .awaitGrowth(to: .max)
    // The last byte is sent with the length.
    case .growing(let number):
      return .awaitGrowth(to: parts.grownSize(for: number, lag: max(plan.request.live?.lag ?? 0, 1)))
    case .ended: return .finished(.ended)
    case .locating(let number):
      guard let location = location(of: number) else { throw .internalError("a part without a URL") }
      return .ask(TusUpload.head(of: location))
    case .hashing(let number), .matching(let number):
      let (offset, length) = parts.range(of: number, in: size)
      if let run { return .hash(.rangeAsSent(offset: offset, length: length, run)) }
      return .hash(.range(.sha256, offset: offset, length: length))
    case .sending: return try part?.nextOfPart() ?? .await
    case .awaitingLent: return .awaitLent
    // Nothing of it is read.
    case .examiningFile: return .hash(.range(.sha256, offset: 0, length: 0))
    case .joining: return .ask(try join())
    case .removing(let uploads, _):
      return .ask(TusUpload.termination(of: uploads[0], overridesMethod: overridesMethod))
    case .failing(let error): throw error
    case .whole(let location):
      return .sendWhole(location, isUploaded: location != nil, resumedFrom: location == nil ? nil : resumedFrom)
    case .sent(let location): return .sendWhole(location, isUploaded: false, resumedFrom: resumedFrom)
    }
  }

  private var overridesMethod: Bool {
    part?.detours.found.overridesMethod ?? (plan.request.overridesMethod || plan.previous.detours.overridesMethod)
  }

  private var options: TusUpload.Options {
    var options = plan.request.tusOptions
    options.overridesMethod = overridesMethod
    return options
  }

  private func join() throws(UploadError) -> HTTPRequest {
    var fields = [TusFields.resumable, Field("Upload-Concat", "final;" + parts.tags.joined(separator: " "))]
    do throws(TusError) {
      let metadata = try TusFields.metadata(plan.request.metadata)
      if !metadata.isEmpty { fields.append(Field("Upload-Metadata", metadata)) }
    } catch { throw .tus(error) }
    var body = RequestBody()
    body.joinedLength = size
    var request = HTTPRequest(method: "POST", target: endpoint, fields: fields, body: body)
    request.isRepeatable = plan.request.isForGigHive
    return request
  }

  // MARK: What comes next

  private func sendNext() {
    let number = parts.nextMissing(in: size, besides: { lent.contains($0) })
    if !lent.isEmpty, number == nil || !areMatched && number == 1 {
      state = .awaitingLent
    } else if plan.isGrowing {
      state = .growing(number == 1 && !parts.areInOrder ? nil : number)
    } else if !areMatched, number ?? 1 == 1 {
      state = .matching(1)
    } else if let number {
      state = .hashing(number)
    } else {
      state = .examiningFile
    }
  }

  /// Asks for the next part behind this number that the server should have.
  private func locate(after number: Int) {
    if let next = parts.tags.indices.first(where: { $0 >= number && parts.has($0 + 1) }) {
      state = .locating(next + 1)
    } else {
      sendNext()
    }
  }

  private func matched(_ number: Int) {
    if parts.areInOrder, number == parts.tags.count, let location = location(of: 1) {
      save(.partsCompared(location: location.text))
      state = .sent(location)
    } else if number < parts.count(in: size) {
      state = .matching(number + 1)
    } else {
      areMatched = true
      sendNext()
    }
  }

  override func grown(_ growth: Growth, orFail error: UploadError) {
    switch (state, growth) {
    case (.growing(let number?), .enough): state = .hashing(number)
    case (.growing, .ended), (.unsupported, .ended): state = .ended
    case (.growing, .removed), (.unsupported, .removed): remove(uploads, then: .fail(error))
    default: break
    }
  }

  /// - Returns: whether uploads were being ended.
  override func leaveTidying() -> Bool {
    guard case .removing(let uploads, let continuation) = state else { return false }
    removalFailures = 0
    if case .fail(let error) = continuation {
      // Otherwise the record forgets what `cancel` can still end.
      warn(.partsLeft(uploads, .recorded))
      state = .failing(error)
    } else {
      left += uploads.map { ($0, .forgotten) }
      remove([], then: continuation)
    }
    return true
  }

  private func remove(_ uploads: [TargetURI], then continuation: Continuation) {
    if case .leave = continuation { lent = [] }
    if !uploads.isEmpty {
      state = .removing(uploads, then: continuation)
      return
    }
    for fate in [PartsFate.forgotten, .kept] {
      let uploads = left.filter { $0.fate == fate }.map { $0.upload }
      if !uploads.isEmpty { warn(.partsLeft(uploads, fate)) }
    }
    left = []
    switch continuation {
    case .ask:
      save(.forgotten)
      state = .asking
    case .locate(let number):
      forget(number)
      locate(after: number)
    case .send(let number):
      forget(number)
      sendNext()
    case .match(let number):
      forget(number)
      matched(number)
    case .leave:
      leave()
      state = plan.isGrowing ? .unsupported : .whole(nil)
    case .fail(let error):
      leave()
      state = .failing(error)
    case .finish(let location):
      save(.partsRemoved)
      state = .whole(location)
    }
  }

  /// The server has nothing of it.
  private func leave() {
    guard hasUpload else { return }
    parts = UploadedParts(growing: parts.token, step: parts.step, areInOrder: parts.areInOrder)
    save(.forgotten)
  }

  /// The server does not have the part.
  private func forget(_ number: Int) {
    parts.set(nil, of: number)
    save(.parts(parts))
  }

  // MARK: Hashes

  override func hashed(_ result: HashResult) throws(UploadError) {
    if case .rangeAsSent(let digest, let isAsSent) = result { return try hashed(ASCII.hex(digest), isAsSent: isAsSent) }
    guard case .range(let digest, let changed) = result else { return }
    switch state {
    case .hashing(let number): try send(number, sha256: ASCII.hex(digest))
    case .sending: part?.setChecksum(ofNextPatch: digest)
    case .matching(let number):
      let isSame = parts.sha256(of: number) == ASCII.hex(digest)
      if !isSame, let location = location(of: number) {
        remove([location], then: parts.areInOrder ? .leave : .match(number))
      } else {
        matched(number)
      }
    case .examiningFile where changed != nil && changed != matchedAt:
      matchedAt = changed
      state = .matching(1)
    case .examiningFile where joins >= Limits.joinCount:
      save(.joins(joins))
      warn(.notJoined(joinError ?? .connectionLost(.awaitingConfirmation, peer: endpoint.origin, nil)))
      remove(uploads, then: .leave)
    case .examiningFile:
      joins += 1
      save(.joins(joins))
      // A plain tus server has the recording as soon as they are joined, and its URL is lost with the response.
      if !plan.request.isForGigHive { save(.mayBeStored) }
      state = .joining
    default: break
    }
  }

  /// The part once more, to find out whether what was sent of it is what it has.
  private func hashed(_ sha256: String, isAsSent: Bool) throws(UploadError) {
    guard case .hashing(let number) = state else { return }
    run = nil
    if part?.isComplete ?? false, self.sha256(of: number) == sha256 {
      take(number, sha256: sha256, isAsSent: isAsSent)
    } else if isAsSent {
      try send(number, sha256: sha256)
    } else {
      sendAgain(number)
    }
  }

  /// The server may have something else than the recording.
  private func sendAgain(_ number: Int) {
    run = nil
    remove(location(of: number).map { [$0] } ?? [], then: parts.areInOrder ? .leave : .send(number))
  }

  /// - Parameter isAsSent: whether that was sent. Otherwise, the part is sent again when the recording has ended: it may be written all the time.
  private func take(_ number: Int, sha256: String, isAsSent: Bool = true) {
    if !isAsSent, parts.areInOrder { return sendAgain(number) }
    parts.set(part?.tag, of: number, sha256: isAsSent ? sha256 : UploadedParts.unprovedSHA256)
    save(.parts(parts))
    sendNext()
  }

  /// Until it is whole, nothing shows what the server has of a part of a recording that grows, except to this process.
  private func noteBeginning(_ tag: String, of number: Int) {
    let isProved = parts.areInOrder || !plan.isGrowing
    parts.set(tag, of: number, sha256: isProved ? partSHA256 : UploadedParts.unprovedSHA256, isWhole: false)
    save(.parts(parts))
  }

  private func sha256(of number: Int) -> String? {
    let isOwn = part != nil && number == partNumber && part?.location == location(of: number)
    return isOwn && !parts.areInOrder ? partSHA256 : parts.sha256(of: number)
  }

  private func send(_ number: Int, sha256: String) throws(UploadError) {
    if parts.areInOrder { return try sendInOrder(number, sha256: sha256) }
    let location = location(of: number)
    // The recorder has rewritten what was sent, or may have done so.
    if location != nil, self.sha256(of: number) != sha256 { return sendAgain(number) }
    if location == nil || part?.location != location { part = upload(of: number, at: location) }
    partSHA256 = sha256
    if plan.isGrowing { part?.digest(from: parts.range(of: number, in: size).offset) }
    partNumber = number
    state = .sending(number, sha256: sha256)
  }

  /// The record knows what is sent before the server has it: nothing else shows later whether the recorder has rewritten it.
  private func sendInOrder(_ number: Int, sha256: String) throws(UploadError) {
    let (offset, length) = parts.range(of: number, in: size)
    let location = location(of: 1)
    if let location, let sent = parts.sha256(of: number), sent != sha256 { return remove([location], then: .leave) }
    if part == nil || part?.location != location {
      do throws(TusError) {
        part = try TusUpload(
          growingTo: offset + length, at: endpoint, plan.request.metadata, location: location, offer, options)
      } catch { throw .tus(error) }
    }
    part?.grow(to: offset + length)
    if plan.isGrowing { part?.digest(from: offset) }
    (partNumber, partSHA256) = (number, sha256)
    if let tag = parts.tag(of: 1), parts.tag(of: number) == nil { noteBeginning(tag, of: number) }
    state = .sending(number, sha256: sha256)
  }

  /// - Parameter location: nil for a new one.
  private func upload(of number: Int, at location: TargetURI?) -> TusUpload {
    var options = options
    options.defersLength = false
    let (offset, length) = parts.range(of: number, in: size)
    return TusUpload(
      partOf: endpoint, offset: offset, length: length, location: location, offer, options, after: part)
  }

  // MARK: Other connections

  /// A part for another connection; nil if there is none now. What has been begun is continued here.
  override func lend(_ file: LocalPath, to base: TargetURI) -> LentPart? {
    guard !plan.isGrowing else { return nil }
    var own: Int?
    switch state {
    case .hashing(let number), .sending(let number, _): own = number
    case .awaitingLent: break
    default: return nil
    }
    let missing = parts.nextMissing(in: size) { $0 == own || lent.contains($0) || parts.begun.contains($0) }
    guard let number = missing, areMatched || number != 1 else { return nil }
    lent.append(number)
    let (offset, length) = parts.range(of: number, in: size)
    return LentPart(
      id: LentPart.ID(number: number, attempt: 0), offset: offset, length: length,
      way: .tus(upload(of: number, at: nil)), file: file, base: base)
  }

  override func awaits(_ part: LentPart.ID) -> Bool { lent.contains(part.number) }

  override func note(_ progress: LentPart.Progress, of part: LentPart.ID) {
    guard let index = lent.firstIndex(of: part.number) else { return }
    switch progress {
    case .begun(let tag, let sha256): parts.set(tag, of: part.number, sha256: sha256, isWhole: false)
    case .taken(let tag, let sha256):
      lent.remove(at: index)
      parts.set(tag, of: part.number, sha256: sha256)
    case .failed: lent.remove(at: index)
    }
    if progress != .failed { save(.parts(parts)) }
    if progress.isEnd, case .awaitingLent = state { sendNext() }
  }

  // MARK: Responses

  override func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch state {
    case .asking: try receiveOffer(answer)
    case .locating(let number): try receiveOffset(answer, number)
    case .sending(let number, let sha256): try receivePart(answer, from: target, number, sha256: sha256)
    case .joining: try receiveJoin(answer, from: target)
    case .removing(let uploads, let continuation):
      let verdict = Verdict.ofTus(status: answer.status, fields: answer.fields)
      if !isTidying {
        if verdict == .tus(.locked) || verdict == .tus(.conflict) { throw .tus(.locked) }
        if RetryPolicy.isTransient(status: answer.status) { throw answer.refusal }
      }
      if case .fail = continuation, !verdict.provesEnd {
        _ = leaveTidying()
      } else {
        if verdict.provesEnd {
          removalFailures = 0
        } else if answer.status == 405 || answer.status == 501 {
          left.append((uploads[0], .kept))
        } else if answer.status != 404, answer.status != 410 {
          // The others are tried once each.
          left.append((uploads[0], .forgotten))
        }
        remove(Array(uploads.dropFirst()), then: continuation)
      }
    case .unsupported, .growing, .ended, .hashing, .awaitingLent, .matching, .examiningFile, .whole, .sent, .failing:
      break
    }
  }

  private func receiveOffer(_ answer: Answer) throws(UploadError) {
    if answer.status == 401 || answer.status == 403 || RetryPolicy.isTransient(status: answer.status) {
      throw answer.refusal
    }
    guard answer.isSuccess, let offer = (try? TusCapabilities(answer.fields)) ?? nil,
      offer.concatenates || mayBeInOrder(offer)
    else {
      // Only the server itself says that its parts are of no use any more.
      guard answer.fields.haveTusProof || !hasUpload else { throw .notFromServer(status: answer.status) }
      return remove(uploads, then: .leave)
    }
    self.offer = offer
    if !parts.areInOrder {
      locate(after: 0)
    } else if plan.isGrowing {
      sendNext()
    } else {
      state = hasUpload ? .matching(1) : .whole(nil)
    }
  }

  /// Whether the recording is sent in order, as one upload.
  private func mayBeInOrder(_ offer: TusCapabilities) -> Bool {
    if !hasUpload, plan.isGrowing, plan.isAppended, offer.defersLength {
      parts = UploadedParts(growing: parts.token, step: parts.step, areInOrder: true)
    }
    return parts.areInOrder
  }

  private func receiveOffset(_ answer: Answer, _ number: Int) throws(UploadError) {
    guard answer.isFresh else { throw .tus(.cachedOffset) }
    switch Verdict.ofTus(status: answer.status, fields: answer.fields) {
    // The last one is shorter. Whether it is the last one shows when the recording has ended.
    case .tus(.offset(let offset)) where plan.isGrowing || offset == parts.range(of: number, in: size).length:
      locate(after: number)
    case .tus(.offset): remove(location(of: number).map { [$0] } ?? [], then: .locate(number))
    case .tus(.gone): remove([], then: .locate(number))
    case .tus(.locked), .tus(.conflict): throw .tus(.locked)
    case .somebodyElse(let status) where answer.isSuccess || status == 404 || status == 410:
      throw .notFromServer(status: status)
    case .tus, .gigHive, .somebodyElse: throw answer.refusal
    }
  }

  private func receivePart(
    _ answer: Answer, from target: TargetURI, _ number: Int, sha256: String
  ) throws(UploadError) {
    guard var part else { return }
    let wasNew = part.location == nil
    run = answer.run ?? run
    do throws(TusError) {
      defer { self.part = part }
      try part.receive(answer, from: target)
    } catch { return try receive(error, answer, wasNew: wasNew) }
    let tag = part.tag
    // The field with all of them would be too long.
    if let tag, !UploadedParts.isTag(tag, isPath: true), let location = part.location {
      return remove(uploads + [location], then: .leave)
    }
    switch part.state {
    case .complete:
      let range = parts.range(of: number, in: size)
      if let run, run.offset == range.offset, run.length == range.length {
        self.run = nil
        take(number, sha256: sha256, isAsSent: run.sha256 == sha256)
      } else if run != nil {
        state = .hashing(number)
      } else {
        take(number, sha256: sha256)
      }
    case .gone where parts.areInOrder: try beginAnew()
    case .gone:
      (self.part, run) = (nil, nil)
      forget(number)
      state = .hashing(number)
      // It could happen endlessly.
      throw .uploadLost
    // The server has lost some of it.
    case .sending(_, let confirmed, _) where parts.areInOrder && confirmed < parts.total(in: size): try beginAnew()
    default:
      if let run, let next = part.nextOffset, next != run.end { state = .hashing(number) }
      guard let tag, tag != parts.tag(of: number) else { return }
      noteBeginning(tag, of: number)
    }
  }

  /// The server has lost what was sent in order.
  private func beginAnew() throws(UploadError) {
    (part, run) = (nil, nil)
    leave()
    state = .hashing(1)
    throw .uploadLost
  }

  private func receive(_ error: TusError, _ answer: Answer, wasNew: Bool) throws(UploadError) {
    switch error {
    // It offers what it does not do.
    case .refused(method: "POST", let status) where wasNew && !hasUpload && [400, 404, 405, 501].contains(status):
      remove([], then: .leave)
    case .refused(method: "PATCH", status: 400) where Verdict.isInterruption(answer): throw .tus(.interrupted)
    case .unproved(let status): throw .notFromServer(status: status)
    case .refused, .notSupported: throw refusal(answer)
    default: throw .tus(error)
    }
  }

  /// The server has shown that it is one of tus, so that a page without its fields is somebody else's.
  private func refusal(_ answer: Answer) -> UploadError {
    let isStrange = !answer.fields.haveTusProof && (answer.isSuccess || [404, 405, 410].contains(answer.status))
    return isStrange ? .notFromServer(status: answer.status) : answer.refusal
  }

  private func receiveJoin(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    guard answer.fields.haveTusProof else {
      // Of a gateway behind which it may have joined them.
      if answer.isSuccess, !plan.request.isForGigHive { throw .mayBeStored(.notFromServer(status: answer.status)) }
      throw refusal(answer)
    }
    guard answer.isSuccess else {
      // It has not joined them.
      if !plan.request.isForGigHive { save(.notStored) }
      state = .examiningFile
      let mayPass = RetryPolicy.isTransient(status: answer.status)
      joinError = answer.refusal
      if mayPass, answer.status != 500 {
        uncountJoin()
        throw answer.refusal
      }
      if wasRefused {
        guard !mayPass, ![401, 403, 413].contains(answer.status) else { throw answer.refusal }
        // It never will.
        joins = Limits.joinCount
        return
      }
      // Perhaps it does not have all of them any more.
      wasRefused = true
      return locate(after: 0)
    }
    let location: TargetURI
    do throws(TusError) { (location, _) = try TusUpload.resolve(answer.fields.first("Location"), from: target) } catch {
      throw plan.request.isForGigHive ? .tus(error) : .mayBeStored(.tus(error))
    }
    let expires = answer.fields.first("Upload-Expires").flatMap {
      $0.utf8.count <= Limits.serverTextLength ? $0 : nil
    }
    save(.joined(location: location.text, expires: expires))
    remove(uploads, then: .finish(location))
  }

  /// Whether the server may have joined them. A gateway that cannot reach it says another status.
  private static func mayHaveJoined(_ interruption: Interruption) -> Bool {
    switch interruption.error {
    case .refused(let status, _): status == 500 || status == 504
    // A success without a URL.
    case .tus: true
    case let error: interruption.sent == .whole && error.traits.leavesOutcomeOpen
    }
  }

  /// The server has not tried to join them.
  private func uncountJoin() {
    joins -= 1
    save(.joins(joins))
  }

  /// The requests in flight ended without a usable response.
  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    switch state {
    case .sending(let number, _):
      part?.interrupted(interruption)
      run = interruption.run ?? run
      // The recorder may have rewritten it.
      state = .hashing(number)
    case .joining where plan.request.isForGigHive:
      joinError = interruption.error
      if !TusPartsTask.mayHaveJoined(interruption) { uncountJoin() }
      state = .examiningFile
    case .joining:
      if case .mayBeStored = interruption.error { return .forbidden }
      if interruption.error.traits.leavesOutcomeOpen { return .couldStoreTwice }
      uncountJoin()
      save(.notStored)
      state = .examiningFile
    case .removing where !isTidying: removalFailures += 1
    case .removing: _ = leaveTidying()
    default: break
    }
    return .allowed
  }
}

extension Limits {
  /// How often a tus server is asked to join the parts of a recording, before that is sent as one upload. A disk that is nearly full, or a gateway
  /// with a time limit, may refuse that each time, after it was done.
  static let joinCount: Int64 = 4
}
