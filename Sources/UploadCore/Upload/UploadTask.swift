/// The protocol-specific part of an upload, without connections, retries and redirects; or of what is asked of a server without content of a
/// recording. Here is what is true of most. A class, so that nothing is allocated when one changes while content is sent.
package class UploadTask {
  /// Grows with everything that need not be repeated after a failure.
  var progress: Int64 { 0 }

  /// The last known offset on the server, in bytes.
  var lastOffset: Int64 { 0 }

  /// How much the server had of a recording in parts before the request in flight, in bytes; nil for others.
  package var deliveredInParts: Int64? { nil }

  /// Whether the recording is sent in one request, not over tus.
  package var sendsWhole: Bool { false }

  /// What the response is to, for who explains it.
  package var answered: AnsweredRequest { .other }

  /// Whether a request may be pipelined (RFC 9112, 9.3.2).
  var mayPipeline: Bool { false }

  /// Whether a recording that grows is sent from its start on, not its first part last.
  package var sendsInOrder: Bool { false }

  /// Whether a request has a part of the recording, so that a server that is busy costs no more than that.
  var sendsParts: Bool { false }

  /// Whether only the server has work to do: everything is sent.
  package var awaitsRecording: Bool { false }

  /// Whether a request is in flight whose response counts, after one that was answered.
  var awaitsAnswer: Bool { false }

  /// Whether the server has had everything, and the file is read again for its SHA-256.
  package var isVerifying: Bool { false }

  /// Whether the server has had everything, and only the outcome is missing.
  package var awaitsOutcome: Bool { false }

  /// Whether the last interruption leads to another request at once.
  var isMoving: Bool { false }

  /// Whether what is read of the file is not known to be what was sent.
  package var readsUnknown: Bool { false }

  /// Whether the response to the request in flight needs what the kernel has counted on its connection (``Answer/link``).
  package var asksOfLink: Bool { false }

  /// Whether several connections are sure to be faster than one.
  package var gainsByConnections: Bool { false }

  /// Whether the server does not join parts.
  package var joinsNothing: Bool { false }

  /// Whether there is an upload on the server that continues with the cookies it has set.
  var hasUpload: Bool { false }

  /// Whether the server may have the whole recording, although no response says so.
  var doubt: StoredDoubt { .none }

  /// The same after an upload that ends with this error of this machine, if the server cannot be asked.
  func mayBeStored(afterLocal error: UploadError) -> Bool { false }

  /// Whether a recording to be deleted may be gone, although no response says so.
  package var mayBeDeleted: Bool { false }

  /// Whether the request in flight only tidies up, so that no response to it ends the upload.
  var isTidying: Bool { false }

  /// Leaves what only costs space on the server, after it could not be deleted.
  /// - Returns: whether that was being deleted.
  func leaveTidying() -> Bool { false }

  /// Whether a whole recording was lost on the server, so that it is sent again.
  var hasLostRecording: Bool { false }

  /// Whether it is an upload in parts that compares them with the file if its status changes (ctime), before they are joined.
  var comparesParts: Bool { false }

  /// Whether what the server has is compared with the file when the upload continues, or has been, or is older than this task.
  var isComparedLater: Bool { false }

  /// What is in doubt about parts that nothing has compared with the file when its status had changed; nil if there are none.
  var doubtOfParts: StoredDoubt? { nil }

  // MARK: Steps

  /// Changes that must be saved in the record, and warnings, before anything else.
  private var pending: [TaskStep] = []

  final func save(_ change: RecordChange) { pending.append(.save(change)) }

  final func warn(_ warning: UploadWarning) { pending.append(.warn(warning)) }

  final var hasPending: Bool { !pending.isEmpty }

  /// The first of the changes.
  final func takeUnsaved() -> RecordChange? {
    for (index, step) in pending.enumerated() {
      guard case .save(let change) = step else { continue }
      pending.remove(at: index)
      return change
    }
    return nil
  }

  /// What is pending, or else what comes next.
  final func step() throws(UploadError) -> TaskStep { pending.isEmpty ? try next() : pending.removeFirst() }

  /// What comes next if nothing is pending.
  func next() throws(UploadError) -> TaskStep { throw .internalError("a task without steps") }

  /// What is probably hashed next, after the request in flight.
  package var nextRange: HashRange? { nil }

  /// The last byte of a request that announces it is about to be sent.
  func lastByteNext() {}

  func hashed(_ result: HashResult) throws(UploadError) {}

  /// - Parameter error: that of a recording whose file was removed.
  func grown(_ growth: Growth, orFail error: UploadError) {}

  // MARK: Responses

  /// Whether a response to a whole recording, or to a question about one, is a captive portal's.
  func isPortals(_ answer: Answer) -> Bool { false }

  /// Why a success that arrives before the whole request was sent does not count; nil if it does.
  func problem(ofEarly answer: Answer) -> UploadError? { .prematureSuccess(status: answer.status) }

  /// Handles the response to the oldest request in flight.
  /// - Parameter target: the URI that answered, which differs from the requested one after a redirect.
  func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) { try receive(answer) }

  /// The same for a task that has no use for the URI.
  func receive(_ answer: Answer) throws(UploadError) {}

  /// Handles a redirect that confirms the upload.
  /// - Returns: false if it does not.
  func takeConfirmation(by location: String, _ answer: Answer) throws(UploadError) -> Bool { false }

  /// The requests in flight ended without a usable response.
  func interrupted(_ interruption: Interruption) -> RetrySafety { .allowed }

  /// Why the requests in flight were interrupted.
  func cause(of interruption: Interruption) -> UploadError { interruption.error }

  func forbidPipelining() {}

  /// The shortest delay before a retry, in milliseconds.
  func pauseMilliseconds(after error: UploadError) -> Int64 { 0 }

  /// How long finalize is repeated while GigHive says that it has taken the upload's file; nil if it does not say so.
  var finalizingPatienceMilliseconds: Int64? { nil }

  /// The last call failed as it has for as long as it is repeated.
  /// - Returns: whether there is something else to do.
  func endFinalizing() throws(UploadError) -> Bool { false }

  // MARK: Other connections

  /// A part for another connection; nil if there is none now.
  func lend(_ file: LocalPath, to base: TargetURI) -> LentPart? { nil }

  /// Whether a part that was lent is still of use.
  func awaits(_ part: LentPart.ID) -> Bool { false }

  /// What has become of a part that another connection sends.
  func note(_ progress: LentPart.Progress, of part: LentPart.ID) {}

  /// How far a part is that was lent to this connection; nil for others, and before the server has anything of it.
  package var progressOfPart: LentPart.Progress? { nil }
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
  /// The rest takes less time in parts than in the upload at this URL. `overridesMethod`: whether DELETE only gets through as a POST.
  case sendParts(leaving: TargetURI, overridesMethod: Bool)
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
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change while the rest of it was read; `md5`: if it is computed, too
  /// (``UploadPlan/computesMD5``).
  case wholeFile(sha256: String, isStable: Bool = true, md5: String? = nil)
  /// In lower-case hexadecimal digits. `isStable`: whether the file has not changed since it was opened.
  case beginning(sha256: String, isStable: Bool = true)
  /// `changed`: the status time of the file, if that is another one than when it was opened.
  case range(digest: [UInt8], changed: StatusTime? = nil)
  /// `isAsSent`: whether the file has what was sent.
  case rangeAsSent(digest: [UInt8], isAsSent: Bool)
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change in the meantime.
  case wholeFileAgain(sent: String, now: String, isStable: Bool)
}
