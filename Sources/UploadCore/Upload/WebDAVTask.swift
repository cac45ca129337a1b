/// One recording on a WebDAV server (RFC 4918): a PUT to a hidden name beside the target, which the record knows before, and then a MOVE that
/// replaces nothing unasked. Some servers keep half a file, or destroy the old one, when a PUT is cut.
///
///     looking ──▶ putting ──▶ hashing ──▶ measuring ──▶ moving ──▶ confirming ──▶ stored
///       │  ▲        │  ▲                                 ▲   │         ▲
///       │  │        ▼  │                    it is whole  │   ▼         │ it is gone
///       │  │   makingDirectory                           asking ───────┘
///       │  └───────────────────────────────────────────────┘ it is not whole
///       └──▶ comparing (something is there) ──▶ stored
///
/// After an interruption, `removing` comes before `putting`. A response to MOVE that is lost is asked about.
final class WebDAVTask: UploadTask {
  private enum State: Sendable {
    /// What has the target's name, if anything.
    case looking
    /// That has the size of the file and this SHA-256.
    case comparing(sha256: String)
    /// What an earlier attempt left under the temporary name is removed. Afterwards, the recording is sent, or the upload fails.
    case removing(before: UploadError?)
    case putting
    /// The directories above the target.
    case makingDirectory(DirectoryMaker)
    /// The server has taken it. Its response is compared with the file's SHA-256.
    case hashing(Answer?)
    /// How much of it the server has stored: nobody sees a recording that is not whole.
    case measuring
    case moving
    /// Whether all of it has the temporary name. `refused`: how the last MOVE was.
    case asking(refused: UploadError?)
    /// What has the target's name after a MOVE. `isMoved`: whether the server says that it has moved it.
    case confirming(isMoved: Bool)
    case failing(UploadError)
    case stored(Receipt, SentFile)
  }

  private enum Sender: Sendable {
    case thisProcess
    /// Perhaps the file was another one then.
    case earlierProcess
  }

  private let request: UploadRequest
  private let size: Int64
  private let provesServer: Bool
  /// What a Nextcloud is told of the file; nil for other servers.
  private let nextcloudFields: [Field]?
  private let target: TargetURI
  private let temporary: TargetURI
  private var state = State.looking
  private var question: DAVQuestion
  /// What an earlier attempt may have left: something with the temporary name, or an upload in parts.
  private var leftover: TargetURI?
  /// Whether a MOVE may have been carried out.
  private var mayBeMoved: Bool
  /// Whose earlier PUT may still be carried out.
  private var late: Sender?
  private var hasMadeDirectory = false
  /// Whether the server has said to this process that it has all of it.
  private var hasTaken = false
  /// Whether it had all of it, and has lost it.
  private var hasLost = false
  private var sha256: String?
  /// What the server has said that it has stored.
  private var storedSHA256: String?

  /// - Throws: without a record, which must know the temporary name.
  init(_ plan: UploadPlan) throws(UploadError) {
    guard let temporary = plan.temporary else { throw .internalError("a WebDAV upload without a record") }
    request = plan.request
    size = plan.size
    provesServer = plan.provesServer
    nextcloudFields = plan.request.joinsParts ? plan.nextcloudFields : nil
    question = DAVQuestion(isForNextcloud: nextcloudFields != nil)
    target = plan.request.base
    self.temporary = temporary
    leftover = [plan.superseded, plan.previous.location].compactMap { $0 }.first {
      $0 == temporary || $0.isInParts(of: plan.request.base)
    }
    let isWhole = plan.previous.location == temporary && plan.previous.isUploaded
    mayBeMoved = isWhole
    late = [plan.superseded, plan.previous.location].contains(temporary) ? .earlierProcess : nil
    super.init()
    // Of another file on the disk, nothing is known.
    if isWhole, plan.previous.doubt == nil { state = .asking(refused: nil) }
    if plan.previous.location != temporary { noteTemporary() }
    if case .looking = state, request.mayReplace { begin() }
  }

  override var progress: Int64 {
    switch state {
    case .looking, .comparing, .removing, .putting, .makingDirectory, .failing: 0
    case .hashing, .measuring, .moving, .asking, .confirming: 1
    case .stored: 2
    }
  }

  override var isVerifying: Bool {
    switch state {
    case .hashing, .comparing: true
    default: false
    }
  }

  override var awaitsOutcome: Bool { progress > 0 }

  /// Whether the request in flight only removes what is of no use, so that no response to it ends the upload in another way.
  override var isTidying: Bool {
    if case .removing(before: .some) = state { true } else { false }
  }

  override func next() throws(UploadError) -> TaskStep {
    switch state {
    case .looking, .confirming: return .ask(question.request(about: target))
    case .measuring, .asking: return .ask(question.request(about: temporary))
    case .comparing, .hashing: return .hash(.wholeFile)
    case .removing: return .ask(HTTPRequest(method: "DELETE", target: leftover ?? temporary))
    case .putting:
      var put = HTTPRequest(
        method: "PUT", target: temporary,
        fields: [Field("Content-Type", request.filePart.mediaType), Field("If-None-Match", "*")]
          + (nextcloudFields ?? []),
        body: RequestBody(fileLength: size))
      put.mayExpectContinue = true
      return .ask(put)
    case .makingDirectory(let maker): return .ask(maker.request)
    case .moving:
      let fields = [Field("Destination", target.absoluteForm), Field("Overwrite", request.mayReplace ? "T" : "F")]
      var move = HTTPRequest(method: "MOVE", target: temporary, fields: fields)
      move.isRepeatable = false
      return .ask(move)
    case .failing(let error): throw error
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: 0))
    }
  }

  // MARK: Responses

  override func isPortals(_ answer: Answer) -> Bool { LikelySoftware.isPortals(answer, unless: provesServer) }

  override func receive(_ answer: Answer) throws(UploadError) {
    var answer = answer
    switch state {
    case .looking, .measuring, .asking, .confirming:
      guard let object = try question.object(in: answer) else { return }
      answer = object
    case .comparing, .removing, .putting, .makingDirectory, .hashing, .moving, .failing, .stored: break
    }
    switch state {
    case .looking: try receiveObject(answer)
    case .removing(let error):
      if let error {
        state = .failing(error)
      } else {
        guard answer.isSuccess || answer.status == 404 || answer.status == 410 else { throw answer.davRefusal }
        leftover = nil
        state = .putting
      }
    case .putting: try receivePut(answer)
    case .makingDirectory(var maker): state = try maker.receive(answer) ? .putting : .makingDirectory(maker)
    case .measuring: try receiveLength(answer)
    case .moving: try receiveMove(answer)
    case .asking(let refused): try receiveTemporary(answer, refused)
    case .confirming(let isMoved): try receiveTarget(answer, isMoved)
    case .comparing, .hashing, .failing, .stored: break
    }
  }

  /// Nothing is sent in vain, and nothing replaced.
  private func receiveObject(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 200:
      guard answer.fields.contentLength == size, let theirs = answer.fields.objectSHA256 else { throw .objectExists }
      state = .comparing(sha256: theirs)
    // A file drop of a Nextcloud that joins no chunks for it.
    case 405 where answer.davMessage != nil: throw answer.davRefusal
    // Some servers do not answer HEAD, either. The MOVE replaces nothing either.
    case 404, 405, 409, 410, 501: begin()
    default: throw answer.davRefusal
    }
  }

  /// Sends it, from the start.
  private func begin() {
    state = leftover != nil ? .removing(before: nil) : .putting
    guard mayBeMoved else { return }
    mayBeMoved = false
    noteTemporary()
  }

  /// The record must know the name under which an incomplete recording may be on the server.
  private func noteTemporary() { save(.created(location: temporary.text, expires: nil)) }

  private func receivePut(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 200, 201, 204:
      if LikelySoftware.isFailure(answer) { throw .unconfirmed(status: answer.status) }
      takeWhole(answer)
    // It says that it is not stored yet, or by somebody else.
    case 200..<300: throw .unconfirmed(status: answer.status)
    case 404, 409:
      guard !hasMadeDirectory, let maker = DirectoryMaker(target.directories) else {
        throw .serverDirectoryMissing(status: answer.status)
      }
      hasMadeDirectory = true
      state = .makingDirectory(maker)
    case 412:
      // Nobody else has a reason to choose this name.
      guard let sender = late.take() else { throw .objectExists }
      // A request that seemed to be lost was carried out late.
      switch sender {
      case .thisProcess: state = .asking(refused: nil)
      case .earlierProcess: (leftover, state) = (temporary, .removing(before: nil))
      }
    default:
      if answer.sent != .none { leftover = temporary }
      throw answer.davRefusal
    }
  }

  /// The server has all of it, under the temporary name.
  private func takeWhole(_ answer: Answer?) {
    leftover = temporary
    (hasTaken, hasLost) = (true, false)
    state = request.computesSHA256 ? .hashing(answer) : .measuring
  }

  private func receiveLength(_ answer: Answer) throws(UploadError) {
    let refusal = answer.davRefusal
    if answer.status != 200, refusal.traits.isTransient { throw refusal }
    // Some servers do not say it. The MOVE says what else is wrong.
    let length = answer.status == 200 ? answer.fields.contentLength : nil
    do throws(UploadError) { _ = try receipt(storedSHA256, size: length) } catch {
      state = .removing(before: error)
      return
    }
    beginMoving()
  }

  private func beginMoving() {
    if !mayBeMoved { save(.uploaded) }
    mayBeMoved = true
    state = .moving
  }

  private func receiveMove(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 201, 204: state = .confirming(isMoved: true)
    case 412:
      // It was not moved, and what is there is something else.
      mayBeMoved = false
      noteTemporary()
      state = .removing(before: .objectExists)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default:
      state = .asking(refused: answer.davRefusal.traits.isTransient ? nil : answer.davRefusal)
      if answer.davRefusal.traits.isTransient { throw answer.davRefusal }
    }
  }

  /// Whether the temporary name is still there.
  private func receiveTemporary(_ answer: Answer, _ refused: UploadError?) throws(UploadError) {
    switch answer.status {
    case 200 where answer.fields.contentLength == size:
      if let refused {
        state = .asking(refused: nil)
        throw refused
      }
      leftover = temporary
      if mayBeMoved { beginMoving() } else { takeWhole(nil) }
    case 404 where mayBeMoved, 410 where mayBeMoved: state = .confirming(isMoved: false)
    case 200, 404, 410:
      leftover = answer.status == 200 ? temporary : nil
      try beginAgain(after: refused)
    default: throw answer.davRefusal
    }
  }

  /// It is not there, or not whole. If the server has taken it from this process, that could happen endlessly.
  /// - Parameter refusal: that of the MOVE, if it was refused.
  private func beginAgain(after refusal: UploadError? = nil) throws(UploadError) {
    hasLost = hasTaken && size > Limits.fullSendLength
    begin()
    guard hasTaken else { return }
    hasTaken = false
    throw refusal ?? .uploadLost
  }

  private func receiveTarget(_ answer: Answer, _ isMoved: Bool) throws(UploadError) {
    let length = answer.fields.contentLength
    switch answer.status {
    case 200 where length == nil && !isMoved: throw .unconfirmed(status: 200)
    case 200 where length != nil && length != size && !isMoved:
      // Both names are not what was sent: somebody else has been here.
      state = .looking
      throw .objectExists
    case 200:
      guard request.computesSHA256, sha256 == nil else { return try store(answer) }
      state = .hashing(answer)
    // The server answers no question, but it has answered MOVE.
    case 403 where isMoved, 405 where isMoved, 501 where isMoved: try store(nil)
    case 404, 410:
      if isMoved {
        state = .asking(refused: nil)
        throw .unconfirmed(status: answer.status)
      }
      leftover = nil
      try beginAgain()
    default: throw answer.davRefusal
    }
  }

  override func hashed(_ result: HashResult) throws(UploadError) {
    guard case .wholeFile(let sha256, _, _) = result else { return }
    switch state {
    case .comparing(let theirs):
      guard theirs == sha256 else {
        state = .looking
        throw .objectExists
      }
      var receipt = Receipt()
      (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, true)
      state = .stored(receipt, SentFile(size: size, sha256: sha256))
    case .hashing(let answer):
      self.sha256 = sha256
      // It was read after the MOVE, which an earlier process sent.
      if mayBeMoved { return try store(answer) }
      storedSHA256 = answer?.fields.objectSHA256
      state = .measuring
    case .looking, .removing, .putting, .makingDirectory, .measuring, .moving, .asking, .confirming, .failing,
      .stored:
      break
    }
  }

  private func receipt(_ checksum: String?, size stored: Int64?) throws(UploadError) -> Receipt {
    var receipt = Receipt()
    try UploadConfirmation.compare(
      checksum: checksum, size: stored, with: SentFile(size: size, sha256: sha256), &receipt)
    return receipt
  }

  private func store(_ answer: Answer?) throws(UploadError) {
    var receipt = try receipt(answer?.fields.objectSHA256 ?? storedSHA256, size: answer?.fields.contentLength)
    receipt.isUnprovedPage = !provesServer && answer.map { LikelySoftware.isPage($0) } ?? false
    state = .stored(receipt, SentFile(size: size, sha256: sha256))
  }

  /// The requests in flight ended without a usable response. What a gateway or a lock has held up may still be carried out, so the
  /// server is asked before anything is repeated.
  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    switch state {
    // A question has shown it, and nothing of the recording is on its way.
    case .putting where interruption.error == .uploadLost: break
    case .putting:
      if interruption.sent != .none { (leftover, late) = (temporary, late ?? .thisProcess) }
      if interruption.sent == .whole, interruption.error.traits.leavesOutcomeOpen {
        state = .asking(refused: nil)
      } else if leftover != nil {
        state = .removing(before: nil)
      }
    case .moving: state = .asking(refused: nil)
    case .hashing: state = mayBeMoved ? .asking(refused: nil) : .removing(before: nil)
    case .makingDirectory:
      hasMadeDirectory = false
      state = .putting
    case .removing(before: .some(let error)): state = .failing(error)
    case .looking, .comparing, .removing, .measuring, .asking, .confirming, .failing, .stored: break
    }
    return .allowed
  }

  override var sendsWhole: Bool { true }

  override var hasLostRecording: Bool { hasLost }
}

/// Removes one object from a WebDAV server: what an upload has left under its temporary name, or a recording that is still the one that was
/// delivered.
final class RemoveTask: UploadTask {
  private enum State: Sendable {
    case looking(size: Int64)
    /// The tag is that of the object that was looked at.
    case removing(tag: String?)
    case removed(wasGone: Bool)
  }

  private let target: TargetURI
  private let isDelivery: Bool
  private var state: State
  private var question: DAVQuestion

  /// - Parameter size: what a delivered recording must have, in bytes; nil for what an upload has left.
  init(_ target: TargetURI, size: Int64?) {
    self.target = target
    isDelivery = size != nil
    question = DAVQuestion(isForNextcloud: target.inNextcloud != nil)
    state = size.map { .looking(size: $0) } ?? .removing(tag: nil)
  }

  override func next() -> TaskStep {
    switch state {
    case .looking: .ask(question.request(about: target))
    case .removing(let tag):
      .ask(HTTPRequest(method: "DELETE", target: target, fields: tag.map { [Field("If-Match", $0)] } ?? []))
    case .removed(let wasGone): .finished(isDelivery ? .deleted(wasGone: wasGone) : .cancelled(isKept: false))
    }
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    var answer = answer
    if case .looking = state {
      guard let object = try question.object(in: answer) else { return }
      answer = object
    }
    switch (state, answer.status) {
    case (.looking, 404), (.looking, 410): state = .removed(wasGone: true)
    case (.looking(let size), 200):
      guard answer.fields.contentLength == size else { throw .objectReplaced }
      // A weak tag never matches (RFC 9110, 13.1.1).
      let tag = answer.fields.first("ETag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
      state = .removing(tag: tag)
    case (.removing, 200), (.removing, 204), (.removing, 404), (.removing, 410): state = .removed(wasGone: false)
    case (.removing, 412): throw .objectReplaced
    case (.removing, 200..<300): throw .unconfirmed(status: answer.status)
    case (.looking, _), (.removing, _), (.removed, _): throw answer.davRefusal
    }
  }
}

extension UploadRecord {
  /// Whether it is that of a WebDAV upload, which has a temporary name on the server.
  package var isForWebDAV: Bool { webDAVLeftover != nil }

  /// The temporary name of a WebDAV upload, or the directory of its parts; nil for others, and as long as nothing was sent.
  package var webDAVLeftover: TargetURI? {
    guard let url = remote?.url ?? unfinished?.formerURL, let target = try? TargetURI(destination.endpoint),
      let left = try? TargetURI(url)
    else { return nil }
    return left.isInParts(of: target) || left == target.hiddenSibling(for: id) ? left : nil
  }
}

extension TargetURI {
  /// The directories above it, from the innermost to that below the root.
  var directories: [TargetURI] {
    let path = Array(withoutQuery.requestTarget.utf8)
    return path.indices.reversed().filter { $0 > 0 && path[$0] == ASCII.slash }.map {
      with(requestTarget: path[...$0])
    }
  }

  /// The hidden name beside it under which an upload sends its content. As a component, it has at most 255 bytes.
  func hiddenSibling(for id: String) -> TargetURI {
    let suffix = "." + id + ".gighive-part"
    let segment = withoutQuery.lastPathSegment
    var name = Percent.decode(segment) ?? Array(segment.utf8)
    let limit = Limits.componentLength - 1 - suffix.utf8.count
    if name.count > limit {
      // Not within a character of UTF-8.
      while name.count > limit || name.last.map({ $0 & 0xC0 == 0x80 }) ?? false { name.removeLast() }
      if let last = name.last, last >= 0xC0 { name.removeLast() }
    }
    let path = Array(withoutQuery.requestTarget.utf8.dropLast(segment.utf8.count))
    return with(requestTarget: (path + Array(("." + Percent.encode(segment: name) + suffix).utf8))[...])
  }

  func with(requestTarget: ArraySlice<UInt8>) -> TargetURI {
    TargetURI(
      scheme: scheme, host: host, zone: zone, port: port, requestTarget: String(decoding: requestTarget, as: UTF8.self))
  }
}
