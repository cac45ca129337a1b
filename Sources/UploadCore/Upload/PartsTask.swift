/// One large recording that a server gets in parts, which it joins at the end: an object of an S3 server, or a file of a Nextcloud. After an
/// interruption the server lists what it has, and only what is missing is sent. ``PartsDialect`` has what the servers have not in common.
///
///     aborting ──▶ looking ──▶ making ──▶ creating ──▶ hashing ⇄ putting ──▶ digesting ──▶ checking ──▶ verifying ──▶ joining ──▶ confirming
///                     │                                   ▲         ▲                       │  ▲           │            │             │
///                     ▼                                   │         └───────────────────────┼──┼───────────┘ a part     │             ▼
///                 comparing                           examining ◀── listing                 │  │             is missing │  proving ─▶ stored
///                                                                (of an earlier process)    │  └────────────────────────┘             ▲
///                                                                                           │      no clear response                  │
///                                                                                           └─────────────────────────────────────────┘
///                                                                                             it is there: it was joined
///
/// The record has the SHA-256 of each part of an S3 object: if something may have touched the file since, the parts that an earlier process has
/// sent are compared with it (`matching`), and what differs is sent again.
///
/// A request to join the parts, whose response was lost, is never repeated blindly: what is there says whether it was carried out.
///
/// Parts of a recording that does not grow can be lent (``PartTask``): they are sent over other connections while this one sends another part
/// (`hashing`, `putting`), and are waited for before the end:
///
///     hashing ⇄ putting ──▶ awaitingLent ──▶ hashing (one that came back unsent), or what follows when all parts are there
///
/// While a recording grows, its parts are sent but the first one, and nothing is joined:
///
///     … creating ──▶ growing ⇄ hashing ⇄ putting        growing ──▶ ended, once nobody writes to the file any more
///
/// Then another task continues that upload with the file as it is: before it sends the first part, it compares the others with the file.
///
///     … listing ──▶ hashing ⇄ putting ──▶ matching ──▶ hashing ⇄ putting (what differs, and the first one) ──▶ digesting
///                                                                                     … checking ◀── examiningFile ◀──┘
///
/// `examiningFile` follows `digesting` for finished recordings, too, where parts have digests or other connections have sent some. If the file's
/// status (ctime) has changed by then, all parts are compared (`comparingAgain`): the digest of the whole, which reads on behind them, does not
/// show whether they are still what the file has.
final class PartsTask: UploadTask {
  private enum State: Sendable {
    /// End an upload that is of no use, whatever the response. Afterwards, the recording is sent, or the upload fails.
    case aborting(TargetURI, before: UploadError?)
    /// Whether something has the object's name, before anything is sent in vain.
    case looking
    /// That has the size of the file and this SHA-256.
    case comparing(sha256: String)
    /// The directories above it. `isBegun`: whether the upload has been created.
    case making(DirectoryMaker, isBegun: Bool)
    case creating
    /// The server does not join parts.
    case unsupported
    /// What the server has of an earlier process, behind the part with this number.
    case listing(after: Int)
    /// Whether that is of this file. `isJoined`: the object has been made of it.
    case examining(isJoined: Bool)
    /// The part with this number.
    case hashing(Int)
    case putting(Int, sha256: String)
    /// What is missing is lent.
    case awaitingLent
    /// The recording has not grown enough for the part with this number; nil if it is not sent before it has ended.
    case growing(Int?)
    /// It has ended. What is left is sent by a task that knows its size.
    case ended
    /// Whether the part with this number is what the file has now. `isJoined`: whether the object has been made of it.
    case matching(Int, isJoined: Bool)
    /// The rest of the whole file's SHA-256.
    case digesting(isJoined: Bool)
    /// Whether the file is still what was compared with the parts.
    case examiningFile
    /// Its status has changed. Whether the part with this number is still what was sent.
    case comparingAgain(Int)
    /// Whether something has the object's name, before the parts are joined. `isLost`: the server does not know the upload any more.
    case checking(isLost: Bool)
    /// Whether the server has all parts: it would not say so.
    case verifying
    case joining
    /// The server says that they are joined, and has stored content with this SHA-256.
    case confirming(sha256: String?)
    /// What SHA-256 it has stored.
    case proving(HTTPRequest)
    case failing(UploadError)
    case stored(Receipt, SentFile)
  }

  /// The upload on the server.
  private struct Upload: Sendable {
    let location: TargetURI
    var origin: Origin
    /// How the server has refused to join it. What helps the first time does not help again.
    var refusals: Refusals = []
  }

  private enum Origin: Sendable {
    case thisProcess
    /// And why its parts may be of another file.
    case earlierProcess(FileDoubt?)
  }

  private struct Refusals: OptionSet, Sendable {
    let rawValue: UInt8
    static let exists = Refusals(rawValue: 1)
    static let parts = Refusals(rawValue: 2)
    static let directory = Refusals(rawValue: 4)
    static let missing = Refusals(rawValue: 8)
  }

  /// Bytes; while the recording grows, ``UploadedParts/unknownSize``.
  private let size: Int64
  private let isGrowing: Bool
  private let lag: Int64
  private let token: String
  private let computesSHA256: Bool
  /// What an earlier process has sent.
  private let sent: SentPart?
  /// Whether nothing has touched the file since.
  private let isSameFile: Bool
  private let mayReplace: Bool
  private var dialect: PartsDialect
  private var state: State
  private var parts: UploadedParts
  /// nil if there is none.
  private var upload: Upload?
  private var sha256: String?
  /// Whether the parts that were sent while the recording grew have been compared with it.
  private var areMatched = false
  /// The numbers of the parts that other connections send, and whether there has been one.
  private var lent: [Int] = []
  private var hasLent = false
  /// The numbers of parts that changed while they were sent. They are sent when the recording has ended.
  private var postponed: [Int] = []
  /// The file's status time when they were last compared with it; nil while that is as it was when the file was opened.
  private var comparedAt: StatusTime?
  /// How much the server had before anything was sent, in bytes; nil while unknown.
  private var resumedFrom: Int64?
  /// How many uploads this process has begun.
  private var attempts = 0
  /// How often the request that ends an upload has failed.
  private var abortFailures = 0
  /// Why the server did not take the parts of an upload.
  private var refusal: UploadError?
  /// Whether the server was asked to join the parts of this upload.
  private var isJoinAsked = false
  /// Whether it had parts from this process, and has lost them, or did not join them.
  private var hasLost = false
  /// The part that was sent without a response while the recording grew, if the server does not check what it gets.
  private var unanswered: (number: Int, sha256: String)?
  /// How much it got of a part when it did not know the upload any more, in bytes.
  private var sentInVain: Int64 = 0

  init(_ plan: UploadPlan, _ dialect: PartsDialect) {
    isGrowing = plan.isGrowing
    lag = plan.request.live?.lag ?? 0
    size = plan.isGrowing ? UploadedParts.unknownSize : plan.size
    token = plan.boundary.token
    computesSHA256 = plan.computesSHA256 && !plan.isGrowing
    sent = plan.previous.sent
    isSameFile = plan.previous.doubt == nil && plan.previous.sent?.statusTime != nil
    mayReplace = plan.request.mayReplace
    self.dialect = dialect
    parts = PartsTask.parts(plan.isGrowing, token, plan.size, dialect)
    state = .looking
    // One of which nothing is known to be there is not worth a question to Nextcloud.
    if let location = plan.previous.location, let parts = plan.previous.parts, dialect.isUpload(location),
      dialect.checksParts || parts.end(in: size) > 0, parts.areGrowing || !isGrowing, parts.fit(plan.size) || isGrowing
    {
      self.parts = parts
      upload = Upload(location: location, origin: .earlierProcess(plan.previous.doubt))
      state = .listing(after: 0)
    } else if let former = plan.superseded ?? plan.previous.location,
      dialect.isUpload(former) || former == plan.temporary
    {
      state = .aborting(former, before: nil)
    }
  }

  private static func parts(
    _ isGrowing: Bool, _ token: String, _ size: Int64, _ dialect: PartsDialect
  ) -> UploadedParts {
    isGrowing
      ? UploadedParts(growing: token)
      : UploadedParts(token: token, ofSize: size, dialect.lengths, hasDigests: dialect.checksParts)
  }

  // MARK: What is asked of it

  /// The bytes that the server has, and more with everything that need not be repeated after a failure.
  override var progress: Int64 {
    switch state {
    case .aborting, .looking, .comparing, .making(_, isBegun: false), .creating, .unsupported, .listing, .examining,
      .hashing, .putting, .awaitingLent, .growing, .ended, .matching, .failing:
      parts.total(in: size)
    case .digesting, .examiningFile, .comparingAgain, .checking, .verifying, .making(_, isBegun: true), .joining:
      size + 1
    case .confirming, .proving, .stored: size + 2
    }
  }

  /// How much of the recording the server has in whole parts, in bytes.
  override var lastOffset: Int64 { parts.total(in: size) }

  override var sendsParts: Bool { true }

  override var deliveredInParts: Int64? { lastOffset }

  override var doubtOfParts: StoredDoubt? { StoredDoubt.none }

  override var hasLostRecording: Bool { hasLost }

  override var isVerifying: Bool {
    switch state {
    case .comparing, .digesting, .comparingAgain: true
    default: false
    }
  }

  /// Whether the server has had everything, and only the outcome is missing.
  override var awaitsOutcome: Bool { progress > size }

  /// Whether the request in flight is about an upload that is not needed. What stays of it may cost money, so some failures are retried.
  override var isTidying: Bool {
    if case .aborting = state { abortFailures >= Limits.abortRetries } else { false }
  }

  /// Whether the server does not join parts.
  override var joinsNothing: Bool { if case .unsupported = state { true } else { false } }

  /// Whether what is read of the file is not known to be what was sent.
  override var readsUnknown: Bool {
    guard case .examining = state, case .read = continuation else { return false }
    return true
  }

  override func isPortals(_ answer: Answer) -> Bool { dialect.isPortals(answer) }

  override func next() throws(UploadError) -> TaskStep {
    switch state {
    case .aborting(let location, _): return .ask(dialect.abort(location))
    case .looking:
      if !mayReplace { return .ask(dialect.question) }
      begin()
      return try step()
    case .checking, .confirming: return .ask(dialect.question)
    case .comparing, .digesting: return .hash(.wholeFile)
    case .making(let maker, _): return .ask(maker.request)
    case .creating: return .ask(dialect.creation(token: parts.token))
    case .unsupported: return isGrowing ? .awaitGrowth(to: .max) : .fallBackToPut
    case .examining(let isJoined): return try examine(isJoined: isJoined)
    case .growing(let number): return .awaitGrowth(to: parts.grownSize(for: number, lag: lag))
    case .ended: return .finished(.ended)
    case .awaitingLent: return .awaitLent
    // Nothing of it is read.
    case .examiningFile: return .hash(.range(.sha256, offset: 0, length: 0))
    case .hashing(let number), .matching(let number, _), .comparingAgain(let number):
      return .hash(hashRange(of: number))
    case .proving(let request): return .ask(request)
    case .failing(let error): throw error
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: resumedFrom ?? 0))
    case .listing, .verifying, .putting, .joining: return try nextOfUpload()
    }
  }

  private func hashRange(of number: Int) -> HashRange {
    let (offset, length) = parts.range(of: number, in: size)
    return .range(.sha256, offset: offset, length: length)
  }

  /// What is probably hashed next, while a part is sent. Only a server that compares parts with their SHA-256 notices if that of the file
  /// is another one when it is sent. If other connections send parts, nobody knows.
  override var nextRange: HashRange? {
    guard case .putting(let number, _) = state, dialect.checksParts, !parts.areGrowing, lent.isEmpty else { return nil }
    return parts.nextMissing(in: size, besides: { $0 == number }).map { hashRange(of: $0) }
  }

  /// What is asked about the upload.
  private func nextOfUpload() throws(UploadError) -> TaskStep {
    guard let location = upload?.location else { throw .internalError("parts without an upload") }
    switch state {
    case .listing(let number): return .ask(dialect.list(of: location, after: number))
    case .putting(let number, let sha256):
      let (offset, length) = parts.range(of: number, in: size)
      let content = RequestBody(
        fileOffset: offset, fileLength: length, isJoinedLater: parts.areGrowing,
        digestedFrom: isGrowing && !dialect.checksParts ? offset : nil)
      return .ask(dialect.part(number, of: location, content: content, sha256: sha256))
    case .joining:
      var join = dialect.join(parts, of: location)
      // Never repeated blindly, and the server may copy everything meanwhile.
      join.isRepeatable = false
      join.body?.joinedLength = size
      return .ask(join)
    default: return .ask(dialect.list(of: location, after: 0))
    }
  }

  // MARK: What comes next

  /// Begins an upload.
  private func begin() {
    resumedFrom = resumedFrom ?? 0
    attempts += 1
    let token = token + (attempts > 1 ? "-" + String(attempts) : "")
    parts = PartsTask.parts(isGrowing, token, size, dialect)
    (upload, lent, postponed, sentInVain, isJoinAsked, unanswered) = (nil, [], [], 0, false, nil)
    // What is there after a response that was lost is known.
    if let location = dialect.location(of: token) {
      save(.created(location: location.text, expires: nil))
    }
    save(.parts(parts))
    state = dialect.directories.map { .making($0, isBegun: false) } ?? .creating
  }

  /// The upload is no longer there, or of no use. If this process has created it, that counts as a failure, because it could happen endlessly.
  private func startOver() throws(UploadError) {
    let isOwn = hasCreated
    noteLoss()
    forget()
    state = .looking
    if isOwn { throw .uploadLost }
  }

  private func noteLoss() {
    hasLost = hasCreated && parts.total(in: size) + sentInVain > Limits.fullSendLength
  }

  /// Whether this process has created the upload.
  private var hasCreated: Bool { if case .thisProcess = upload?.origin { true } else { false } }

  private func forget() {
    parts = PartsTask.parts(isGrowing, parts.token, size, dialect)
    (upload, areMatched, lent) = (nil, false, [])
    save(.forgotten)
  }

  /// Ends the upload on the server, and sends the recording from the start, or fails.
  private func abort(before error: UploadError?) {
    guard let location = upload?.location else {
      state = error.map { .failing($0) } ?? .looking
      return
    }
    state = .aborting(location, before: error)
  }

  /// - Returns: whether an upload was being ended that is not needed. To send again what this process has sent could happen endlessly.
  override func leaveTidying() -> Bool {
    guard case .aborting(let location, let error) = state, error != nil || !hasCreated else { return false }
    leaveAborted(location, error, isGone: false)
    return true
  }

  private func leaveAborted(_ location: TargetURI, _ error: UploadError?, isGone: Bool) {
    abortFailures = 0
    if !isGone { warn(.partsLeft([location], error == nil ? .forgotten : .recorded)) }
    // Otherwise `cancel` can still end it.
    if upload != nil, isGone || error == nil { forget() }
    state = error.map { .failing($0) } ?? .looking
  }

  /// Why the parts of an earlier process may be of another file.
  private var fileDoubt: FileDoubt? { if case .earlierProcess(let doubt) = upload?.origin { doubt } else { nil } }

  /// Whether the record has the SHA-256 of each part, with which the file is compared.
  private var comparesEach: Bool { parts.areGrowing || dialect.checksParts }

  /// How the upload of an earlier process continues.
  private var continuation: ContinuationPolicy.Decision {
    if comparesEach { return .proceed }
    return ContinuationPolicy.decide(
      fileDoubt, sent: sent, offset: parts.end(in: size), size: size,
      digestDecides: computesSHA256)
  }

  /// If the file may have changed, only the beginning that this connection has sent can be compared. What others sent behind it is sent
  /// again.
  private func forgetUncompared() {
    guard fileDoubt != nil, !comparesEach, let sent, parts.end(in: size) > sent.length else { return }
    for number in 1...parts.count(in: size) where parts.has(number) {
      let (offset, length) = parts.range(of: number, in: size)
      if offset + length > sent.length { parts.set(nil, of: number) }
    }
    save(.parts(parts))
  }

  private func examine(isJoined: Bool) throws(UploadError) -> TaskStep {
    if !isJoined { forgetUncompared() }
    switch continuation {
    case .compare(let sent): return .hash(.beginning(length: sent.length))
    case .read(let length): return .hash(.beginning(length: length))
    case .startOver: leaveOther(isJoined: isJoined)
    case .proceed: proceed(isJoined: isJoined)
    }
    return try step()
  }

  /// What the server has is of another file.
  private func leaveOther(isJoined: Bool) {
    if isJoined {
      state = .failing(.objectExists)
      return
    }
    warn(.otherFile)
    abort(before: nil)
  }

  private func proceed(isJoined: Bool) {
    if fileDoubt != nil {
      save(.continued)
      upload?.origin = .earlierProcess(nil)
    }
    // Of a recording that was sent while it grew, when its first part can be sent.
    if parts.areGrowing ? isJoined : dialect.checksParts && !hasCreated && !isSameFile {
      match(from: 1, isJoined: isJoined)
    } else if isJoined {
      store(theirs: nil)
    } else {
      sendNext()
    }
  }

  private func sendNext() {
    let number = parts.nextMissing(in: size, besides: { lent.contains($0) || postponed.contains($0) })
    if number == nil, !lent.isEmpty {
      state = .awaitingLent
    } else if isGrowing {
      state = .growing(number == 1 ? nil : number)
    } else if parts.areGrowing, !areMatched, number ?? 1 == 1 {
      match(from: 1, isJoined: false)
    } else if let number {
      state = dialect.checksParts || parts.areGrowing ? .hashing(number) : .putting(number, sha256: "")
    } else {
      state = needsDigest ? .digesting(isJoined: false) : examiningOrJoining
    }
  }

  private var needsDigest: Bool { computesSHA256 && sha256 == nil }

  /// What was sent may have been changed since. Nextcloud's parts, of which nothing is known, may if other connections have sent some.
  private var examiningOrJoining: State { comparesEach || hasLent ? .examiningFile : checkingOrJoining }

  /// What may be replaced is not looked at, unless a request may have replaced it already.
  private var checkingOrJoining: State { mayReplace && hasCreated ? verifyingOrJoining : .checking(isLost: false) }

  private var verifyingOrJoining: State { dialect.joinsBlindly ? .verifying : .joining }

  override func grown(_ growth: Growth, orFail error: UploadError) {
    switch (state, growth) {
    case (.growing(let number?), .enough): state = .hashing(number)
    case (.growing, .ended), (.unsupported, .ended): state = .ended
    case (.growing, .removed), (.unsupported, .removed): abort(before: error)
    default: break
    }
  }

  /// Compares the parts that the server has, from this one on, with the file. Without the digest of each, nobody knows what was joined.
  private func match(from number: Int, isJoined: Bool) {
    if isJoined, parts.firstMissing(in: size) != nil { return leaveOther(isJoined: true) }
    if let index = parts.tags.indices.dropFirst(number - 1).first(where: { parts.has($0 + 1) }) {
      state = .matching(index + 1, isJoined: isJoined)
    } else if isJoined {
      store(theirs: nil)
    } else {
      // Not before: from then on, the record takes the file as it is now for what was sent.
      save(.parts(parts))
      areMatched = true
      sendNext()
    }
  }

  override func hashed(_ result: HashResult) throws(UploadError) {
    switch (state, result) {
    case (.hashing(let number), .range(let digest, _)):
      let sha256 = ASCII.hex(digest)
      // The former content may arrive late, and replace this one.
      if let unanswered, unanswered.number == number, unanswered.sha256 != sha256 { return abort(before: nil) }
      state = .putting(number, sha256: sha256)
    case (.matching(let number, let isJoined), .range(let digest, _)):
      let isSame = parts.sha256(of: number) == ASCII.hex(digest)
      if isJoined, !isSame { return leaveOther(isJoined: true) }
      if !isSame { parts.set(nil, of: number) }
      match(from: number + 1, isJoined: isJoined)
    case (.examining(let isJoined), .beginning(let found, let isStable)):
      switch continuation {
      case .compare(let sent) where found != sent.sha256: leaveOther(isJoined: isJoined)
      case .read where !isStable: leaveOther(isJoined: isJoined)
      case .compare, .read, .startOver, .proceed: proceed(isJoined: isJoined)
      }
    case (.digesting(let isJoined), .wholeFile(let sha256, _, _)):
      self.sha256 = sha256
      if isJoined { store(theirs: nil) } else { state = examiningOrJoining }
    case (.examiningFile, .range(_, let changed)):
      if changed == comparedAt { state = checkingOrJoining } else { try compareAgain(changed) }
    case (.comparingAgain(let number), .range(let digest, _)):
      guard parts.sha256(of: number) == ASCII.hex(digest) else {
        throw .tus(.checksumMismatch(offset: parts.range(of: number, in: size).offset))
      }
      // It may have been changed since.
      state = number < parts.count(in: size) ? .comparingAgain(number + 1) : .examiningFile
    case (.comparing(let theirs), .wholeFile(let own, _, _)):
      guard theirs == own else {
        state = .looking
        throw .objectExists
      }
      sha256 = own
      var receipt = Receipt()
      (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, true)
      state = .stored(receipt, SentFile(size: size, sha256: own))
    default: break
    }
  }

  // MARK: Other connections

  /// A part for another connection; nil if there is none now.
  override func lend(_ file: LocalPath, to base: TargetURI) -> LentPart? {
    guard !parts.areGrowing, let upload else { return nil }
    var own: Int?
    switch state {
    case .hashing(let number), .putting(let number, _): own = number
    case .awaitingLent: break
    default: return nil
    }
    guard let number = parts.nextMissing(in: size, besides: { $0 == own || lent.contains($0) }) else { return nil }
    lent.append(number)
    hasLent = true
    let (offset, length) = parts.range(of: number, in: size)
    return LentPart(
      id: LentPart.ID(number: number, attempt: attempts), offset: offset, length: length,
      way: .request(dialect, upload: upload.location), file: file, base: base)
  }

  /// Whether a part that was lent is still of use.
  override func awaits(_ part: LentPart.ID) -> Bool {
    switch state {
    case .hashing, .putting, .awaitingLent: part.attempt == attempts && lent.contains(part.number)
    default: false
    }
  }

  override func note(_ progress: LentPart.Progress, of part: LentPart.ID) {
    guard part.attempt == attempts, let index = lent.firstIndex(of: part.number) else { return }
    lent.remove(at: index)
    if case .taken(let tag, let sha256) = progress {
      parts.set(tag, of: part.number, sha256: sha256)
      save(.parts(parts))
    }
    if case .awaitingLent = state { sendNext() }
  }

  // MARK: Changes of the file

  /// Whether it compares all parts with the file if its status changes.
  override var comparesParts: Bool { comparesEach }

  /// Whether they are compared when the upload continues, or have been.
  override var isComparedLater: Bool {
    switch state {
    case .listing, .examining(isJoined: false), .hashing, .putting, .awaitingLent, .digesting(isJoined: false),
      .examiningFile, .comparingAgain:
      comparesEach
    case .aborting, .looking, .comparing, .making, .creating, .unsupported, .examining, .growing, .ended, .matching,
      .digesting, .checking, .verifying, .joining, .confirming, .proving, .failing, .stored:
      true
    }
  }

  /// Compares all parts. Nextcloud's have no digests, so nothing can be compared.
  private func compareAgain(_ changed: StatusTime?) throws(UploadError) {
    guard comparesEach else { throw .tus(.checksumMismatch(offset: 0)) }
    (comparedAt, state) = (changed, .comparingAgain(1))
  }

  // MARK: Responses

  override func receive(_ answer: Answer) throws(UploadError) {
    if dialect.learn(from: answer) { return }
    switch state {
    case .aborting(let location, let error):
      let isOwn = hasCreated
      let isGone = dialect.hasEnded(answer)
      if !isGone, RetryPolicy.isTransient(status: answer.status) { throw answer.objectRefusal }
      noteLoss()
      leaveAborted(location, error, isGone: isGone)
      // It could happen endlessly.
      if isOwn, error == nil { throw .uploadLost }
    case .looking: try receiveObject(answer)
    case .making(var maker, let isBegun):
      let isDone = try maker.receive(answer)
      state = isDone ? isBegun ? .checking(isLost: false) : .creating : .making(maker, isBegun: isBegun)
    case .creating: try receiveCreation(answer)
    case .listing, .verifying: try receiveList(answer)
    case .putting(let number, let sha256): try receivePart(answer, number, sha256: sha256)
    case .checking(let isLost): try receiveCheck(answer, isLost: isLost)
    case .joining: try receiveJoin(answer)
    case .confirming(let theirs): try receiveConfirmation(answer, theirs)
    case .proving: finish(theirs: dialect.examined(answer))
    case .comparing, .unsupported, .examining, .hashing, .awaitingLent, .growing, .ended, .matching, .digesting,
      .examiningFile, .comparingAgain, .failing, .stored:
      break
    }
  }

  private func receiveObject(_ answer: Answer) throws(UploadError) {
    if dialect.isStrangers(answer) {
      state = .unsupported
      return
    }
    switch try found(answer) {
    case .object(size, let theirs?, _) where !isGrowing: state = .comparing(sha256: theirs)
    case .object: throw .objectExists
    // Who may only write learns nothing here: then the condition protects what is there.
    case .nothing, .hidden: begin()
    }
  }

  private func found(_ answer: Answer) throws(UploadError) -> PartsDialect.Found {
    try dialect.found(answer, token: parts.token, size: size)
  }

  private func receiveCreation(_ answer: Answer) throws(UploadError) {
    switch try dialect.created(answer, token: parts.token) {
    case .created(let location):
      upload = Upload(location: location, origin: .thisProcess)
      if dialect.location(of: parts.token) == nil {
        save(.created(location: location.text, expires: nil))
      }
      sendNext()
    case .unsupported:
      forget()
      state = .unsupported
    }
  }

  private func receiveList(_ answer: Answer) throws(UploadError) {
    switch (try dialect.listed(answer), state) {
    case (.gone, _): state = .checking(isLost: true)
    // The record knows what was taken.
    case (.hidden, _):
      dialect.forbidListing()
      endListing()
    case (.parts(let listed, let next), .listing(let number)):
      // Such pages might never end.
      if let next, listed.isEmpty || next <= number || next > Limits.s3PartNumber {
        throw .notFromServer(status: answer.status)
      }
      guard compare(listed, after: number, until: next) else { return abort(before: nil) }
      if let next { state = .listing(after: next) } else { endListing() }
    case (.parts(let listed, _), _):
      guard compare(listed, after: 0, until: nil) else { return abort(before: nil) }
      guard let number = parts.firstMissing(in: size) else {
        state = .joining
        return
      }
      save(.parts(parts))
      sendNext()
      // It could happen endlessly.
      if isSecond(.missing) {
        hasLost = parts.range(of: number, in: size).length > Limits.fullSendLength
        throw .uploadLost
      }
    }
  }

  /// Forgets the parts that the server does not have, or has with another size.
  /// - Returns: false if there are others, of an earlier plan or of somebody else: some servers join only what is named completely.
  private func compare(_ listed: [ListedPart], after number: Int, until next: Int?) -> Bool {
    let count = parts.count(in: size)
    if listed.contains(where: { !(1...count).contains($0.number) }) { return false }
    var has = [Bool](repeating: false, count: parts.tags.count)
    for part in listed where part.number <= has.count {
      has[part.number - 1] =
        part.size == parts.range(of: part.number, in: size).length
        && dialect.isSame(part, as: parts.tags[part.number - 1])
    }
    let last = min(next ?? has.count, has.count)
    for index in has.indices where index >= number && index < last && !has[index] { parts.set(nil, of: index + 1) }
    return true
  }

  private func endListing() {
    resumedFrom = resumedFrom ?? parts.total(in: size)
    state = .examining(isJoined: false)
  }

  private func receivePart(_ answer: Answer, _ number: Int, sha256: String) throws(UploadError) {
    switch try dialect.taken(answer) {
    case .taken(let tag):
      // What its recorder has written in between is sent again when the recording has ended: it may be written all the time.
      let isAsHashed = answer.run.map { $0.sha256 == sha256 } ?? true
      parts.set(tag, of: number, sha256: isAsHashed ? sha256 : UploadedParts.unprovedSHA256)
      save(.parts(parts))
      sendNext()
    case .gone:
      if answer.sent == .whole { sentInVain = parts.range(of: number, in: size).length }
      state = .checking(isLost: true)
    case .useless: abort(before: nil)
    // Its recorder may write it all the time.
    case .damaged where isGrowing:
      postponed.append(number)
      sendNext()
    case .damaged:
      state = .hashing(number)
      throw .tus(.checksumMismatch(offset: parts.range(of: number, in: size).offset))
    }
  }

  private func receiveCheck(_ answer: Answer, isLost: Bool) throws(UploadError) {
    let isComplete = parts.firstMissing(in: size) == nil
    switch try found(answer) {
    case .object(_, _, .thisUpload) where dialect.checksParts: state = .examining(isJoined: true)
    // Another file can have the same size and time. Only if the parts are gone, too, it was made of them.
    case .object(_, _, .thisUpload) where isLost && isComplete && (isJoinAsked || !mayReplace):
      state = .examining(isJoined: true)
    case .object(_, _, .thisUpload) where !isLost: state = .verifying
    case .object where !mayReplace: abort(before: .objectExists)
    case .object, .nothing:
      if isLost { try startOver() } else { state = verifyingOrJoining }
    case .hidden:
      guard isLost else {
        state = verifyingOrJoining
        return
      }
      // It may have been joined, and nobody can see it.
      if isComplete { throw answer.status == 400 ? answer.objectRefusal : .mayBeStored(.uploadLost) }
      try startOver()
    }
  }

  private func receiveJoin(_ answer: Answer) throws(UploadError) {
    isJoinAsked = true
    state = .checking(isLost: false)
    switch try dialect.joined(answer) {
    case .joined(let theirs): state = .confirming(sha256: theirs)
    case .gone: state = .checking(isLost: true)
    // Whoever has been faster has made its object, or this upload has, and the response was lost.
    case .exists: if isSecond(.exists) { abort(before: .objectExists) }
    case .conflict(let error): sendAgain(after: error)
    case .conditionUnknown: break
    case .partsRefused(let error, let isCertain):
      if dialect.mayList, !isSecond(.parts) {
        state = dialect.joinsBlindly ? .verifying : .listing(after: 0)
      } else if isCertain {
        // Once, what the server has may have been damaged.
        if refusal == error { abort(before: error) } else { sendAgain(after: error) }
        refusal = error
      } else {
        throw error
      }
    case .directoryMissing(let status):
      guard let maker = dialect.directories, !isSecond(.directory) else {
        throw .serverDirectoryMissing(status: status)
      }
      state = .making(maker, isBegun: true)
    }
  }

  /// The server has said why it does not join them.
  private func sendAgain(after refusal: UploadError) {
    warn(.notJoined(refusal))
    abort(before: nil)
  }

  /// Whether the upload has been refused in this way before.
  private func isSecond(_ refusal: Refusals) -> Bool { !(upload?.refusals.insert(refusal).inserted ?? true) }

  private func receiveConfirmation(_ answer: Answer, _ theirs: String?) throws(UploadError) {
    switch try found(answer) {
    case .object(let length, _, let owner):
      state = .checking(isLost: false)
      guard let length else { throw .unconfirmed(status: answer.status) }
      guard length == size else { throw .sizeDiffers(sent: size, stored: length) }
      // Somebody else has replaced it since.
      if case .somebodyElse = owner { throw .objectExists }
      store(theirs: theirs)
    // Who may only write cannot look, but the server has said it.
    case .hidden: store(theirs: theirs)
    case .nothing:
      state = .checking(isLost: false)
      throw .unconfirmed(status: 404)
    }
  }

  /// - Parameter theirs: the SHA-256 of what the server has stored, if it has said it.
  private func store(theirs: String?) {
    if needsDigest {
      state = .digesting(isJoined: true)
    } else if theirs == nil, sha256 != nil, let request = dialect.examination {
      state = .proving(request)
    } else {
      finish(theirs: theirs)
    }
  }

  private func finish(theirs: String?) {
    var receipt = Receipt()
    receipt.isChecksumVerified = dialect.checksParts
    if let theirs, let sha256 {
      guard theirs == sha256 else {
        state = .failing(.checksumDiffers(sent: sha256, stored: theirs))
        return
      }
      receipt.isChecksumVerified = true
    }
    state = .stored(receipt, SentFile(size: size, sha256: sha256))
  }

  /// The requests in flight ended without a usable response.
  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    switch state {
    case .aborting where !isTidying: abortFailures += 1
    case .aborting(let location, let error): leaveAborted(location, error, isGone: false)
    case .joining: (isJoinAsked, state) = (true, .checking(isLost: false))
    case .digesting(isJoined: false): sendNext()
    // The recorder may have rewritten it.
    case .putting(let number, let sha256) where parts.areGrowing:
      if !dialect.checksParts { unanswered = (number, sha256) }
      state = .hashing(number)
    // It is delivered, and may be too large to be read in the server's time.
    case .proving: finish(theirs: nil)
    case .looking, .comparing, .making, .creating, .unsupported, .listing, .examining, .hashing, .putting,
      .awaitingLent, .growing, .ended, .matching, .digesting, .examiningFile, .comparingAgain, .checking, .verifying,
      .confirming, .failing, .stored:
      break
    }
    return .allowed
  }
}
