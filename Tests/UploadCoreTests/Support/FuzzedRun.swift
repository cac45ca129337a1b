import UploadCore

/// One machine with random events from a seed.
struct FuzzedRun {
  enum Kind: CaseIterable { case plain, form, tusServer, gigHive, guest, cancel, delete }

  let kind: Kind
  let hasStrangersOnly: Bool
  let size: Int64
  let total: Int64?
  var machine: UploadMachine
  var random: SeededGenerator
  var now: Int64 = 0
  var complaint: String?
  var endName = ""
  let keepsLog: Bool
  private(set) var log: [String] = []

  /// Whether the server always gives the same response to the same request, which reveals endless loops.
  let isStubborn: Bool
  /// Its responses by method; nil for those of a correct server.
  var habits: [String: Answer?] = [:]
  var inFlight: [HTTPRequest] = []
  /// The record.
  var location: String?
  var hasStarted: Bool
  /// The server said, with proof, that the upload is unusable, or a probe confirmed it.
  var isLossProved = false
  var newLocation: String?
  var isNewKnown = false
  /// The server said, with proof, that it has every byte.
  var isWholeProved = false
  /// The last byte of an upload to a plain tus server was sent, and nothing has shown since that bytes are missing.
  var lastByteMayBeSent: Bool
  /// The file's status has changed, and nothing has shown since that its content has not.
  var isInDoubt = false
  var hasReread = false
  /// A plain endpoint received a whole form, and did not redirect it.
  var mayBeStored = false
  /// Whether the end of a request was announced.
  var isAnnounced = false
  /// Whether the part on the server may be of another file, and is then given up.
  private let mayBeOtherFile: Bool
  private let isDoubted: Bool

  init(seed: UInt64, hasStrangersOnly: Bool, keepsLog: Bool = false) throws {
    self.keepsLog = keepsLog
    var random = SeededGenerator(seed: seed)
    let kind = Kind.allCases.randomElement(using: &random) ?? .plain
    let size: Int64 = [1, 2, 100, 2 << 20, 6 << 20, 20 << 20].randomElement(using: &random) ?? 1
    let total: Int64? = Int.random(in: 0..<4, using: &random) == 0 ? Int64.random(in: 0...20_000, using: &random) : nil
    var previous = UnfinishedUpload()
    if kind != .plain, kind != .form, Bool.random(using: &random) {
      previous.remote = RemoteUpload(url: "https://hive/files/1", isWhole: Bool.random(using: &random))
      previous.lastByteMayBeSent = Bool.random(using: &random)
      previous.doubt = [nil, nil, .touched, .replaced].randomElement(using: &random) ?? nil
      if Bool.random(using: &random) {
        previous.sent = SentPart(length: Int64.random(in: 1...size, using: &random), sha256: "ab")
      }
    }
    let renews = Bool.random(using: &random)
    let retries = Int64.random(in: 0...3, using: &random)
    let policy = { (policy: inout UploadPolicy) in
      policy.totalMilliseconds = total
      policy.canRenewCredentials = renews
      let limits: [RetryLimit] = [.failures(retries), .failures(retries), .time(milliseconds: 1000 + retries * 5000)]
      policy.retries = RetryPolicy(limits[Int(seed % 3)], maximumDelayMilliseconds: 4000)
      policy.seed = seed
    }
    let isGuest = kind == .guest
    let computesDigest = Bool.random(using: &random)
    isDoubted = previous.doubt != nil
    mayBeOtherFile = isDoubted || (kind == .tusServer && (computesDigest || previous.sent != nil))
    let configure = { (request: inout UploadRequest) in
      request.computesDigest = computesDigest
      request.tusThreshold = 50
      if kind == .form { request.uploadProtocol = .multipart }
      if isGuest { request.extraFields = [FormField("tos_accepted", "true")] }
    }
    self.machine =
      switch kind {
      case .plain: try .upload(to: .plain, size: size, policy: policy, configure: configure)
      case .tusServer: try .upload(to: .tusServer, size: size, previous: previous, policy: policy, configure: configure)
      case .form, .gigHive, .guest:
        try .upload(
          to: .gigHive, size: size, previous: previous, isGuest: isGuest, policy: policy, configure: configure)
      case .cancel: try .cancel()
      case .delete: try .delete(isRepeated: Bool.random(using: &random))
      }
    (self.kind, self.hasStrangersOnly, self.size, self.random) = (kind, hasStrangersOnly, size, random)
    self.total = kind == .cancel || kind == .delete ? nil : total
    location = previous.location?.text
    hasStarted = location != nil
    lastByteMayBeSent = previous.lastByteMayBeSent
    isStubborn = seed % 4 == 0
  }

  // MARK: The run

  mutating func run() {
    for _ in 0..<2000 where complaint == nil {
      if chance(2400) { handle(.failed(.outOfResources("threads"))) }
      if !endName.isEmpty { return checkEnd() }
      act(machine.next(nowMilliseconds: now))
    }
    if endName.isEmpty, complaint == nil { complaint = "no end" }
  }

  private mutating func act(_ action: UploadAction) {
    checkDeadline(action)
    switch action {
    case .send(let request, _): send(request)
    case .await:
      if chance(3) { now += 1000 }
      guard !inFlight.isEmpty || chance(2) else { return handle(.hashed(hash())) }
      if !inFlight.isEmpty, chance(8) { return touchFile() }
      handle(reply())
    case .hash(.wholeFileAgain): reread()
    case .hash(.beginning): handle(.hashed(.beginning(sha256: chance(2) ? "ab" : "cd", isStable: chance(2))))
    case .awaitGrowth: complaint = "it waits for a finished recording to grow"
    case .awaitLent: complaint = "it waits for a part that nobody has asked for"
    case .hash(let range):
      if case .wholeFile = range { handle(.hashed(hash())) } else { handle(.hashed(.range(digest: [0]))) }
    case .save(let change): save(change)
    case .renewCredentials: handle(.credentials(areNew: chance(2)))
    case .reportRetry, .reportWay, .warn: break
    case .wait(let until): now = chance(8) ? now + 1 : max(now, until)
    case .finished(let outcome): finish(outcome)
    case .failed(let error):
      if case .mayBeStored = error { endName = "mayBeStored" } else { endName = "failed" }
    }
  }

  private mutating func note(_ text: @autoclosure () -> String) {
    if keepsLog { log.append(text()) }
  }

  private mutating func send(_ request: HTTPRequest) {
    note(request.method + " " + request.target.text)
    inFlight.append(request)
    if inFlight.count > 2 || machine.inFlightCount != inFlight.count { complaint = "\(inFlight.count) requests" }
    if mayBeStored { complaint = "a second form" }
    let end = request.fileOffset + (request.body?.fileLength ?? 0)
    if end > size { complaint = "more than the file has" }
  }

  private mutating func handle(_ event: UploadEvent) {
    note("\(event)")
    let before = machine.inFlightCount
    if mayLoseEnd(event) {
      lastByteMayBeSent = true
      // It is not sent before.
      if inFlight.last?.announcesLastByte == true { announce() }
    }
    machine.handle(event)
    if machine.inFlightCount > before { complaint = "an event sent a request" }
    while inFlight.count > machine.inFlightCount { inFlight.removeFirst() }
  }

  /// Whether the event leaves open if the server has the last byte.
  private func mayLoseEnd(_ event: UploadEvent) -> Bool {
    guard machine.inFlightCount > 0, let last = inFlight.last, last.fields.first("Upload-Offset") != nil,
      last.fileOffset + (last.body?.fileLength ?? 0) == size
    else { return false }
    switch event {
    case .interrupted(let interruption): return interruption.sent == .whole || inFlight.count > 1
    case .answered(let answer): return answer.status >= 500 && answer.sent == .whole && inFlight.count == 1
    case .hashed, .grown, .lent, .lastByteNext, .statusChanged, .credentials, .failed: return false
    }
  }

  // MARK: The file

  private mutating func touchFile() {
    guard kind != .cancel, kind != .delete else { return handle(.statusChanged(.afterEnd)) }
    let changes: [StatusChange] = [
      .whileReading, .beforeEnd(isDigested: true), .beforeEnd(isDigested: false), .afterEnd,
    ]
    let statusChange = changes.randomElement(using: &random) ?? .whileReading
    if statusChange != .whileReading { isInDoubt = true }
    handle(.statusChanged(statusChange))
  }

  private mutating func reread() {
    if hasReread { complaint = "read again for the second time" }
    hasReread = true
    if !inFlight.isEmpty, chance(10) {
      let end = UploadError.timedOut(.delivering, peer: "hive", limitMilliseconds: 1)
      return handle(.interrupted(Interruption(end, sent: .partial)))
    }
    let (isSame, isStable) = (!chance(3), !chance(3))
    if isSame, isStable { isInDoubt = false }
    handle(.hashed(.wholeFileAgain(sent: "a", now: isSame ? "a" : "b", isStable: isStable)))
  }

  /// The last byte is about to be sent.
  private mutating func announce() {
    isAnnounced = true
    handle(.lastByteNext)
  }

  private mutating func save(_ change: RecordChange) {
    note("save \(change)")
    switch change {
    case .forgotten, .disproved, .created:
      if location != nil, !isLossProved, !mayBeOtherFile, change != .disproved {
        complaint = "an address is forgotten without proof"
      }
      if kind == .tusServer, location != nil, lastByteMayBeSent, !mayBeOtherFile {
        complaint = "forgotten, and may be stored"
      }
      if hasStrangersOnly, hasStarted, !mayBeOtherFile { complaint = "a stranger's word is believed" }
      location = nil
      if case .created(let text, _) = change { location = text }
      (isLossProved, newLocation, isNewKnown, isWholeProved, hasStarted, lastByteMayBeSent) = (
        false, nil, false, false, true, false
      )
    case .uploaded: if !isWholeProved { complaint = "called whole without proof" }
    case .mayBeStored: if !isAnnounced { complaint = "may be stored, and nothing was sent" }
    case .notStored: if mayBeStored { complaint = "not stored, and may be stored" }
    case .continued: if !isDoubted { complaint = "a doubt that nobody had is settled" }
    case .detours(let detours):
      if hasStrangersOnly, detours.overridesMethod { complaint = "a stranger's word is believed" }
    case .parts, .joins, .joined, .partsRemoved, .partsCompared: complaint = "parts, although nobody joins them"
    case .moved: complaint = "moved, although no URL is elsewhere"
    case .lastByteNext, .processing, .failedFullSends, .cookies: break
    }
  }

  private mutating func finish(_ outcome: Outcome) {
    switch outcome {
    case .delivered:
      endName = "delivered"
      if !isWholeProved { complaint = "delivered without proof" }
      if isInDoubt { complaint = "delivered, and may have changed" }
    case .cancelled:
      endName = "cancelled"
      if !isLossProved { complaint = "ended without proof" }
    case .deleted:
      endName = "deleted"
      if !isLossProved { complaint = "deleted without proof" }
    case .ended: complaint = "a finished recording has ended"
    case .partTaken: complaint = "a part that nobody asked for"
    case .examined: complaint = "an answer to a question that was not asked"
    }
  }

  /// It ends once: nothing changes its outcome.
  private mutating func checkEnd() {
    let end = machine.next(nowMilliseconds: now)
    for _ in 0..<5 {
      machine.handle(strayEvent())
      now += 10_000
      if machine.next(nowMilliseconds: now) != end { complaint = "ended twice" }
    }
  }

  private mutating func checkDeadline(_ action: UploadAction) {
    guard let deadline = machine.deadlineMilliseconds, now >= deadline else { return }
    switch action {
    // What must be in the record is saved even then.
    case .failed, .finished, .save: break
    default: complaint = "continues after its deadline"
    }
  }

  // MARK: Events

  mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private mutating func hash() -> HashResult { .wholeFile(sha256: GigHive.sha256) }

  /// An event that comes too late.
  private mutating func strayEvent() -> UploadEvent {
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where machine.inFlightCount == 0: .answered(Answer(status: 200, fields: [Field("Upload-Offset", "0")]))
    case 1: .hashed(.range(digest: [0]))
    case 2 where machine.inFlightCount == 0: .interrupted(interruption(nil))
    case 3: .credentials(areNew: true)
    case 4 where chance(20): .failed(.outOfResources("threads"))
    default: machine.inFlightCount > 0 ? .hashed(hash()) : .credentials(areNew: false)
    }
  }

  private mutating func interruption(_ request: HTTPRequest?) -> Interruption {
    let sent = [ContentSent.none, .partial, .whole].randomElement(using: &random) ?? .none
    let errors: [UploadError] = [
      .connectionLost(.sending, peer: "hive", nil), .timedOut(.sending, peer: "hive", limitMilliseconds: 1),
      .invalidResponse(.notHTTP, peer: "hive"), .noSuchName(host: "hive"), .noResolver(host: "hive"),
    ]
    if kind == .plain, sent == .whole, request != nil { mayBeStored = true }
    if sent != .whole, request?.fields.first("Upload-Offset") != nil, inFlight.count == 1 { lastByteMayBeSent = false }
    return Interruption(
      errors.randomElement(using: &random) ?? .uploadLost, sent: sent,
      arrived: sent == .none ? 0 : Int64.random(in: 0...size, using: &random),
      staleness: chance(2) ? .fresh : .used(hasSentLittle: chance(2)))
  }

  private mutating func reply() -> UploadEvent {
    guard let request = inFlight.first else { return .interrupted(interruption(nil)) }
    let answer: Answer
    if isStubborn {
      answer = habitualAnswer(request)
    } else {
      if chance(5) { return .interrupted(interruption(request)) }
      answer = !hasStrangersOnly && !chance(4) ? sensibleAnswer(request) : wildAnswer(request)
    }
    note(answer, to: request)
    if request.announcesLastByte, answer.sent == .whole { announce() }
    return .answered(answer)
  }
}
