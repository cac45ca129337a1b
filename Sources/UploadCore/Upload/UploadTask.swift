/// The protocol-specific part of an upload, without connections, retries and redirects. Not indirect: each change of it would allocate memory,
/// and nothing is allocated while content is sent.
enum UploadTask: Sendable {
  case multipart(MultipartTask)
  case put(PutTask)
  case parts(PartsTask)
  case part(PartTask)
  case tusParts(TusPartsTask)
  case webDAV(WebDAVTask)
  case tus(TusTask)
  case errand(ErrandTask)

  private var tus: TusTask? {
    get { if case .tus(let task) = self { task } else { nil } }
    set { if let newValue { self = .tus(newValue) } }
  }

  private var parts: PartsTask? {
    get { if case .parts(let task) = self { task } else { nil } }
    set { if let newValue { self = .parts(newValue) } }
  }

  private var tusParts: TusPartsTask? {
    get { if case .tusParts(let task) = self { task } else { nil } }
    set { if let newValue { self = .tusParts(newValue) } }
  }

  /// Grows with everything that need not be repeated after a failure.
  var progress: Int64 {
    switch self {
    case .multipart(let task): task.progress
    case .put(let task): task.progress
    case .parts(let task): task.progress
    case .tusParts(let task): task.progress
    case .webDAV(let task): task.progress
    case .tus(let task): task.progress
    case .part, .errand: 0
    }
  }

  /// Whether a request may be pipelined (RFC 9112, 9.3.2).
  var mayPipeline: Bool { tus?.mayPipeline ?? false }

  var awaitsRecording: Bool { tus?.awaitsRecording ?? false }

  /// Whether a request is in flight whose response counts, after one that was answered.
  var awaitsAnswer: Bool { tus?.awaitsAnswer ?? false }

  var isVerifying: Bool {
    switch self {
    case .multipart(let task): task.isVerifying
    case .put(let task): task.isVerifying
    case .parts(let task): task.isVerifying
    case .webDAV(let task): task.isVerifying
    case .tus(let task): task.isVerifying
    case .part, .tusParts, .errand: false
    }
  }

  var awaitsOutcome: Bool {
    switch self {
    case .multipart(let task): task.awaitsOutcome
    case .put(let task): task.awaitsOutcome
    case .parts(let task): task.awaitsOutcome
    case .tusParts(let task): task.awaitsOutcome
    case .webDAV(let task): task.awaitsOutcome
    case .tus(let task): task.awaitsOutcome
    case .part, .errand: false
    }
  }

  /// Whether the last interruption leads to another request at once.
  var isMoving: Bool { tus?.upload.isMoving ?? false }

  var readsUnknown: Bool { parts?.readsUnknown ?? tus?.readsUnknown ?? false }

  var joinsNothing: Bool { parts?.joinsNothing ?? tusParts?.joinsNothing ?? false }

  var hasUpload: Bool { tusParts?.hasUpload ?? (tus?.upload.location != nil) }

  /// The last known offset on the server, in bytes.
  var lastOffset: Int64 { parts?.lastOffset ?? tusParts?.lastOffset ?? tus?.lastOffset ?? 0 }

  var deliveredInParts: Int64? {
    switch self {
    case .parts(let task): task.lastOffset
    case .tusParts(let task): task.progress
    case .part(let task): task.delivered
    default: nil
    }
  }

  mutating func next() throws(UploadError) -> TaskStep {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      return try task.next()
    case .tus(var task):
      defer { self = .tus(task) }
      return try task.next()
    case .put(let task): return task.next()
    case .parts(var task):
      defer { self = .parts(task) }
      return try task.next()
    case .tusParts(var task):
      defer { self = .tusParts(task) }
      return try task.next()
    case .webDAV(let task): return try task.next()
    case .part(var task):
      defer { self = .part(task) }
      return try task.next()
    case .errand(let task): return task.next()
    }
  }

  /// A change that must be saved in the record before anything else.
  mutating func takeUnsaved() -> RecordChange? {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      return task.takeUnsaved()
    case .tus(var task):
      defer { self = .tus(task) }
      return task.takeUnsaved()
    case .parts(var task):
      defer { self = .parts(task) }
      return task.takeUnsaved()
    case .tusParts(var task):
      defer { self = .tusParts(task) }
      return task.takeUnsaved()
    case .webDAV(var task):
      defer { self = .webDAV(task) }
      return task.takeUnsaved()
    case .put, .part, .errand: return nil
    }
  }

  /// The last byte of a request that announces it is about to be sent.
  mutating func lastByteNext() {
    switch self {
    case .multipart(var task):
      task.lastByteNext()
      self = .multipart(task)
    case .tus(var task):
      task.lastByteNext()
      self = .tus(task)
    case .put, .parts, .part, .tusParts, .webDAV, .errand: break
    }
  }

  var doubt: StoredDoubt {
    switch self {
    case .multipart(let task): task.doubt
    case .tus(let task): task.history.stored
    case .put, .parts, .part, .tusParts, .webDAV, .errand: .none
    }
  }

  /// Whether the server may have the whole recording, and cannot be asked, after an upload that ends with this error of this machine.
  func mayBeStored(afterLocal error: UploadError) -> Bool {
    switch self {
    case .multipart(let task): task.doubt != .none
    case .tus(let task): task.mayBeStored(afterLocal: error)
    case .put, .parts, .part, .tusParts, .webDAV, .errand: false
    }
  }

  /// Whether the request in flight only tidies up, so that no response to it ends the upload.
  var isTidying: Bool {
    switch self {
    case .webDAV(let task): task.isTidying
    case .parts(let task): task.isTidying
    case .tus(let task): task.isTidying
    case .tusParts(let task): task.isTidying
    case .multipart, .put, .part, .errand: false
    }
  }

  /// Leaves what only costs space on the server, after it could not be deleted.
  /// - Returns: whether that was being deleted.
  mutating func leaveTidying() -> Bool { parts?.leaveTidying() ?? tusParts?.leaveTidying() ?? false }

  /// Whether a whole recording was lost on the server, so that it is sent again.
  var hasLostRecording: Bool {
    switch self {
    case .webDAV(let task): task.hasLostRecording
    case .parts(let task): task.hasLostRecording
    default: tus?.hasLostRecording ?? false
    }
  }

  /// Whether a response to a whole recording, or to a question about one, is a captive portal's.
  func isPortals(_ answer: Answer) -> Bool {
    switch self {
    case .multipart(let task): task.isPortals(answer)
    case .put(let task): task.isPortals(answer)
    case .webDAV(let task): task.isPortals(answer)
    case .tus(let task): task.awaitsRecording && LikelySoftware.isLoginInstead(answer)
    case .errand(let task): task.isPortals(answer)
    case .parts(let task): task.isPortals(answer)
    case .part(let task): task.isPortals(answer)
    case .tusParts: false
    }
  }

  /// Why a success that arrives before the whole request was sent does not count; nil if it does.
  func problem(ofEarly answer: Answer) -> UploadError? {
    if case .tus(let task) = self { return task.problem(ofEarly: answer) }
    return .prematureSuccess(status: answer.status)
  }

  /// Handles the response to the oldest request in flight.
  /// - Parameter target: the URI that answered, which differs from the requested one after a redirect.
  mutating func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      try task.receive(answer)
    case .tus(var task):
      defer { self = .tus(task) }
      try task.receive(answer, from: target)
    case .put(var task):
      defer { self = .put(task) }
      try task.receive(answer)
    case .parts(var task):
      defer { self = .parts(task) }
      try task.receive(answer)
    case .part(var task):
      defer { self = .part(task) }
      try task.receive(answer, from: target)
    case .tusParts(var task):
      defer { self = .tusParts(task) }
      try task.receive(answer, from: target)
    case .webDAV(var task):
      defer { self = .webDAV(task) }
      try task.receive(answer)
    case .errand(var task):
      defer { self = .errand(task) }
      try task.receive(answer)
    }
  }

  mutating func hashed(_ hashed: HashResult) throws(UploadError) {
    switch (self, hashed) {
    case (.multipart(var task), .wholeFile(let sha256, _)):
      defer { self = .multipart(task) }
      try task.hashed(sha256: sha256)
    case (.put(var task), .wholeFile(let sha256, _)), (.put(var task), .beginning(let sha256, _)):
      defer { self = .put(task) }
      try task.hashed(sha256: sha256)
    case (.webDAV(var task), .wholeFile(let sha256, _)):
      defer { self = .webDAV(task) }
      try task.hashed(sha256: sha256)
    case (.parts(var task), _):
      defer { self = .parts(task) }
      try task.hashed(hashed)
    case (.part(var task), _):
      task.hashed(hashed)
      self = .part(task)
    case (.tusParts(var task), _):
      defer { self = .tusParts(task) }
      try task.hashed(hashed)
    case (.tus(var task), _):
      task.hashed(hashed)
      self = .tus(task)
    case (.multipart, _), (.put, _), (.webDAV, _), (.errand, _): break
    }
  }

  /// - Parameter error: that of a recording whose file was removed.
  mutating func grown(_ growth: Growth, orFail error: UploadError) {
    parts?.grown(growth, orFail: error)
    tusParts?.grown(growth, orFail: error)
  }

  /// Whether it is an upload in parts that compares them with the file if its status changes (ctime), before they are joined.
  var comparesParts: Bool {
    switch self {
    case .parts(let task): task.comparesParts
    // The upload that has lent it compares it.
    case .tusParts, .part: true
    default: false
    }
  }

  /// Whether what the server has is compared with the file when the upload continues, or has been, or is older than this task.
  var isComparedLater: Bool {
    switch self {
    case .parts(let task): task.isComparedLater
    case .tusParts: true
    case .tus(let task): task.hadWhole
    default: false
    }
  }

  /// A part for another connection; nil if there is none now.
  mutating func lend(_ file: LocalPath, to base: TargetURI) -> LentPart? {
    parts?.lend(file, to: base) ?? tusParts?.lend(file, to: base)
  }

  func awaits(_ part: LentPart.ID) -> Bool { parts?.awaits(part) ?? tusParts?.awaits(part) ?? false }

  /// What has become of a part that another connection sends.
  mutating func note(_ progress: LentPart.Progress, of part: LentPart.ID) {
    parts?.note(progress, of: part)
    tusParts?.note(progress, of: part)
  }

  /// How far a part is that was lent to this connection; nil for others, and before the server has anything of it.
  var progressOfPart: LentPart.Progress? { if case .part(let task) = self { task.progress } else { nil } }

  /// The requests in flight ended without a usable response.
  mutating func interrupted(_ interruption: Interruption) -> RetrySafety {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      return task.interrupted(interruption)
    case .tus(var task):
      task.interrupted(interruption)
      self = .tus(task)
    case .put(var task):
      task.interrupted()
      self = .put(task)
    case .parts(var task):
      task.interrupted()
      self = .parts(task)
    case .tusParts(var task):
      defer { self = .tusParts(task) }
      return task.interrupted(interruption)
    case .webDAV(var task):
      task.interrupted(interruption)
      self = .webDAV(task)
    case .part(var task):
      task.interrupted(interruption)
      self = .part(task)
    case .errand(var task):
      task.interrupted(interruption)
      self = .errand(task)
    }
    return .allowed
  }

  /// Why the requests in flight were interrupted.
  func cause(of interruption: Interruption) -> UploadError {
    tus?.cause(of: interruption) ?? interruption.error
  }

  /// How long finalize is repeated while GigHive says that it has taken the upload's file; nil if it does not say so.
  var finalizingPatienceMilliseconds: Int64? {
    guard let history = tus?.history, history.isTaken else { return nil }
    return history.mayStillFinalize ? Limits.lostUploadLongMilliseconds : Limits.lostUploadMilliseconds
  }

  /// The shortest delay before a retry, in milliseconds.
  func pauseMilliseconds(after error: UploadError) -> Int64 {
    tus?.isHeldUp(by: error) ?? false ? Limits.finalizePauseMilliseconds : 0
  }

  /// The last call failed as it has for as long as it is repeated.
  /// - Returns: whether there is something else to do.
  mutating func endFinalizing() throws(UploadError) -> Bool { try tus?.endFinalizing() ?? false }

  mutating func forbidPipelining() { tus?.forbidPipelining() }

  /// Handles a redirect that confirms the upload.
  /// - Returns: false if it does not.
  mutating func takeConfirmation(by location: String, _ answer: Answer) throws(UploadError) -> Bool {
    guard case .multipart(var task) = self, task.isConfirmed(by: location, answer) else { return false }
    defer { self = .multipart(task) }
    try task.confirm(by: answer)
    return true
  }
}

enum TaskStep: Equatable, Sendable {
  case ask(HTTPRequest)
  case hash(HashRange)
  case save(RecordChange)
  case warn(UploadWarning)
  /// Wait for the requests in flight.
  case await
  /// Wait until the recording, which grows, has this many bytes, or has ended.
  case awaitGrowth(to: Int64)
  /// Wait for a part that another connection sends.
  case awaitLent
  case finished(Outcome)
  /// The server does not support tus, and the recording may be sent as a form.
  case fallBackToMultipart
  /// The tus server has the recording in one upload at this URL (`isUploaded`: all of it), or nothing of it. `resumedFrom`: how much it had
  /// before anything was sent, in bytes; nil for nothing.
  case sendWhole(TargetURI?, isUploaded: Bool, resumedFrom: Int64?)
  /// It is a WebDAV server that takes no parts.
  case fallBackToPut
}

/// How the requests in flight ended without a response that counts: the connection was lost, or something refused them.
package struct Interruption: Equatable, Sendable {
  package let error: UploadError
  /// How much of the oldest request's content may have been sent.
  package let sent: ContentSent
  /// How many bytes of the content of all requests in flight the peer has acknowledged at least.
  package let arrived: Int64
  /// How long the oldest one was sent, in milliseconds, if the peer stopped its content while it was moving: a link that
  /// drops does not do that.
  package let cutAfterMilliseconds: Int64?
  package let staleness: Staleness
  /// As ``Answer/run``.
  package let run: SentRun?

  /// Whether the server may have closed the connection before the request arrived.
  package enum Staleness: Equatable, Sendable {
    /// No: the connection was new, or the response had started.
    case fresh
    /// Possibly: the connection was reused, and nothing was received for this request. `hasSentLittle`: little was sent.
    case used(hasSentLittle: Bool)
    /// Yes: the previous response announced it.
    case announced
  }

  /// Whether the server had everything of a long request, and did not answer. It closed the connection then, or acknowledged it.
  func isFullSend(of request: HTTPRequest) -> Bool {
    guard sent == .whole, request.contentLength > Limits.fullSendLength else { return false }
    if case .connectionLost(_, _, nil) = error { return true }
    return arrived > Limits.fullSendLength
  }

  package init(
    _ error: UploadError, sent: ContentSent = .none, arrived: Int64 = 0, cutAfterMilliseconds: Int64? = nil,
    staleness: Staleness = .fresh, run: SentRun? = nil
  ) {
    self.error = error
    self.sent = sent
    self.arrived = arrived
    self.cutAfterMilliseconds = cutAfterMilliseconds
    self.staleness = staleness
    self.run = run
  }

  /// - Parameter answer: what refused the oldest request.
  init(_ error: UploadError, by answer: Answer) {
    // Other refusals do not mean that it took too long.
    let isTimeout = answer.status == 408 || answer.status >= 500
    self.init(
      error, sent: answer.sent, cutAfterMilliseconds: isTimeout ? answer.cutAfterMilliseconds : nil, run: answer.run)
  }
}

/// What was read of a file in order to send it, without a gap. The server has all or the beginning of it.
package struct SentRun: Equatable, Sendable {
  /// Where it begins in the file, in bytes.
  package let offset: Int64
  /// In bytes.
  package let length: Int64
  /// In lower-case hexadecimal digits.
  package let sha256: String

  package init(offset: Int64, length: Int64, sha256: String) {
    (self.offset, self.length, self.sha256) = (offset, length, sha256)
  }

  package var end: Int64 { offset + length }
}

package enum HashRange: Equatable, Sendable {
  /// SHA-256 of the whole file. Bytes that were hashed while they were sent are not read again.
  case wholeFile
  /// A checksum of one range, in bytes.
  case range(TusCapabilities.ChecksumAlgorithm, offset: Int64, length: Int64)
  /// SHA-256 of one range, in bytes, and of what was sent of it.
  case rangeAsSent(offset: Int64, length: Int64, SentRun)
  /// SHA-256 of the first bytes, which an earlier process has sent. They count for the whole file's.
  case beginning(length: Int64)
  /// SHA-256 of the whole file as it is now, and of what was sent, while the end of the file is held back.
  case wholeFileAgain
}

package enum HashResult: Equatable, Sendable {
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change while the rest of it was read.
  case wholeFile(sha256: String, isStable: Bool = true)
  /// In lower-case hexadecimal digits. `isStable`: whether the file has not changed since it was opened.
  case beginning(sha256: String, isStable: Bool = true)
  /// In Base64. `changed`: the status time of the file, if that is another one than when it was opened.
  case range(checksum: String, changed: StatusTime? = nil)
  /// In Base64. `isAsSent`: whether the file has what was sent.
  case rangeAsSent(checksum: String, isAsSent: Bool)
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change in the meantime.
  case wholeFileAgain(sent: String, now: String, isStable: Bool)
}
