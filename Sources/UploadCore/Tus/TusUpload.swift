/// One upload with the tus protocol 1.0.0 (tus.io/protocols/resumable-upload), without the connection. It says what to
/// request next, and handles responses and interruptions.
///
///     discovering ──▶ creating ──▶ sending ──▶ complete
///          │              ▲         │   ▲
///          └──▶ locating ─┼─────────┼───┘
///               │    │    │         │ (interrupted)
///               │    ▼    │         ▼
///               │   gone ─┘      locating
///               ▼    ▲
///             probing (something other than the server may have said that the upload is gone)
///
/// A refused PATCH can lead from sending through locating to tryingPost, and back.
///
/// If nobody responds where the server says that the upload is, locating asks for its path at the endpoint's origin, too.
///
/// If probing shows that the upload exists, the one that probing created is removed before sending continues.
package struct TusUpload: Sendable {
  package enum State: Equatable, Sendable {
    /// Ask what the server supports (OPTIONS). `resuming`: the upload to continue then; nil if one is to be created.
    case discovering(resuming: TargetURI?)
    /// Create a new upload (POST).
    case creating
    /// Ask for the server's offset (HEAD).
    case locating(TargetURI)
    /// Find out whether the server itself says that the upload is gone. `claimed`: the status of the response that said so.
    case probing(Probe, of: TargetURI, claimed: Int)
    /// Remove the unused upload that probing created (DELETE), then send the rest from `confirmed`.
    case removing(TargetURI, of: TargetURI, confirmed: Int64)
    /// The server has `confirmed` bytes; the next request starts at `next` (PATCH).
    case sending(TargetURI, confirmed: Int64, next: Int64)
    /// PATCH was refused: find out whether the same as a POST reaches the server. It has `confirmed` bytes.
    case tryingPost(TargetURI, confirmed: Int64)
    /// The server has every byte.
    case complete(TargetURI)
    /// The server does not know the upload (any more). `replacement` is the new upload that the probe created.
    case gone(TargetURI, replacement: TargetURI?)
  }

  /// Examines a 404 without proof of origin. If the server creates an upload and knows it, it is the tus server. If the old
  /// URL is then still unknown, the old upload is gone.
  package enum Probe: Equatable, Sendable {
    /// Create a new upload (POST).
    case creating
    /// Look up the new upload (HEAD).
    case locatingNew(TargetURI)
    /// Look up the old upload (HEAD).
    case locatingOld(new: TargetURI)
  }

  package enum Step: Equatable, Sendable {
    case ask(HTTPRequest)
    /// Compute the checksum of the next PATCH's content, which is this range of the file, then call
    /// ``setChecksum(ofNextPatch:)``.
    case checksumOfNextPatch(TusCapabilities.ChecksumAlgorithm, offset: Int64, length: Int64)
    case await
    case complete
    case gone
  }

  package struct Options: Equatable, Sendable {
    /// Send the length with the first bytes instead of at creation (`Upload-Defer-Length`), if the server supports it.
    package var defersLength = false
    /// Send PATCH and DELETE as POST with `X-HTTP-Method-Override`, for proxies that block them.
    package var overridesMethod = false
    /// The length of all PATCH requests, in bytes; nil to adapt.
    package var chunkLength: Int64?
    /// Whether the endpoint is an upload that somebody else has created: no other one is created, and none removed.
    package var isCreated = false

    package init() {}
  }

  struct Plan: Sendable {
    let endpoint: TargetURI
    /// The file's size in bytes, or that of the part; of a recording that grows, how much of it is sent now.
    var length: Int64
    let metadata: String
    let options: Options
    /// Where the part begins that the server joins with others later (the concatenation extension), in bytes; nil for a whole file.
    var partOffset: Int64?
    /// Whether the whole recording is sent in order while it grows, so that its length is not known yet.
    var isGrowing = false
    /// ``RequestBody/digestedFrom``
    var digestedFrom: Int64?

    /// Where the upload begins in the file, in bytes.
    var start: Int64 { partOffset ?? 0 }

    /// - Parameter offset: in the upload, in bytes.
    func body(from offset: Int64, length: Int64) -> RequestBody {
      RequestBody(
        fileOffset: start + offset, fileLength: length, isJoinedLater: partOffset != nil || isGrowing,
        digestedFrom: digestedFrom)
    }
  }

  private(set) var plan: Plan
  package internal(set) var state: State
  package internal(set) var offer = TusCapabilities()
  /// The server's Upload-Expires, verbatim.
  package internal(set) var expires: String?
  /// Whether the server still needs the length of the upload.
  private var declaresLength = false
  /// The upload that probing created, as long as nothing has come of it. The next attempt uses it instead of creating another one.
  var unused: TargetURI?
  var sizing: ChunkSizing
  var inFlight = TusInFlight()
  var disagreements: OffsetDisagreements
  var detours: TusDetourSearch
  /// The server's Location, which cannot be used, until HEAD shows whether the upload is at the same path of the endpoint's origin.
  var unusableLocation: String?

  /// - Parameters:
  ///   - endpoint: where uploads are created.
  ///   - length: the file's size in bytes.
  ///   - metadata: keys are unique visible ASCII.
  ///   - location: the URL of an upload to resume; nil for a new one.
  ///   - lastByteMayBeSent: whether the file's last byte may have been sent to that one.
  ///   - detours: those of that one.
  package init(
    endpoint: TargetURI, length: Int64, metadata: [FormField], location: TargetURI? = nil,
    lastByteMayBeSent: Bool = true, detours: TusDetours = TusDetours(), options: Options = Options()
  ) throws(TusError) {
    plan = Plan(
      endpoint: endpoint, length: length, metadata: try TusFields.metadata(metadata), options: options)
    state = .discovering(resuming: location)
    sizing = ChunkSizing(pinned: options.chunkLength)
    self.detours = TusDetourSearch(
      TusDetours(
        overridesMethod: detours.overridesMethod || options.overridesMethod, splitEnd: detours.splitEnd),
      isResumed: location != nil)
    // Only the server knows what an earlier process has sent.
    disagreements = OffsetDisagreements(sentEnd: location == nil ? 0 : lastByteMayBeSent ? length : length - 1)
    guard options.isCreated else { return }
    state = .locating(endpoint)
    // Another process may have sent any part of it.
    disagreements = OffsetDisagreements(sentEnd: length)
    // A POST would be about another upload.
    self.detours.endTrial(isTaken: self.detours.found.overridesMethod)
  }

  /// A part of a file, as an upload that the server joins with others later.
  /// - Parameters:
  ///   - offset: of the part in the file, in bytes.
  ///   - location: nil for a new one.
  ///   - offer: what the server supports.
  ///   - former: another part, whose requests have shown what gets through.
  init(
    partOf endpoint: TargetURI, offset: Int64, length: Int64, location: TargetURI?, _ offer: TusCapabilities,
    _ options: Options, after former: TusUpload?
  ) {
    plan = Plan(endpoint: endpoint, length: length, metadata: "", options: options, partOffset: offset)
    state = location.map { .locating($0) } ?? .creating
    sizing = former?.sizing ?? ChunkSizing(pinned: options.chunkLength)
    let known = former?.detours.found ?? TusDetours(overridesMethod: options.overridesMethod)
    detours = TusDetourSearch(TusDetours(overridesMethod: known.overridesMethod), isResumed: location != nil)
    disagreements = OffsetDisagreements(sentEnd: location == nil ? 0 : length)
    self.offer = offer
    sizing.forbidPipelining()
  }

  /// A recording that grows, on a server that joins no parts.
  /// - Parameters:
  ///   - end: how much of it is sent now, in bytes.
  ///   - location: nil for a new one.
  init(
    growingTo end: Int64, at endpoint: TargetURI, _ metadata: [FormField], location: TargetURI?,
    _ offer: TusCapabilities, _ options: Options
  ) throws(TusError) {
    self.init(partOf: endpoint, offset: 0, length: end, location: location, offer, options, after: nil)
    plan = Plan(endpoint: endpoint, length: end, metadata: try TusFields.metadata(metadata), options: options)
    plan.isGrowing = true
  }

  /// The recording has grown: this much of it is sent now, in bytes.
  mutating func grow(to end: Int64) {
    if case .complete(let location) = state {
      state = .sending(location, confirmed: plan.length, next: plan.length)
    }
    plan.length = end
  }

  /// The file may be written while it is sent from now on (``RequestBody/digestedFrom``).
  mutating func digest(from offset: Int64) { plan.digestedFrom = offset }

  /// Where the next request begins in the file, in bytes, if nothing has to be asked before.
  var nextOffset: Int64? {
    guard case .sending(_, _, let next) = state else { return nil }
    return plan.start + next
  }

  /// The upload's URL, once it is created.
  package var location: TargetURI? {
    switch state {
    case .discovering(let resuming): resuming
    case .creating: nil
    case .locating(let location), .probing(_, let location, _), .removing(_, let location, _),
      .sending(let location, _, _), .tryingPost(let location, _), .complete(let location), .gone(let location, _):
      location
    }
  }

  var isComplete: Bool { if case .complete = state { true } else { false } }

  /// The number of bytes that the server is known to have.
  package var confirmed: Int64 {
    switch state {
    case .sending(_, let confirmed, _), .removing(_, _, let confirmed), .tryingPost(_, let confirmed): confirmed
    case .complete: plan.length
    case .discovering, .creating, .locating, .probing, .gone: 0
    }
  }

  /// The number of bytes with which it has last made progress.
  package var progress: Int64 { disagreements.progress }

  /// The same as far as the server has just said it; nil before that.
  var knownOffset: Int64? {
    switch state {
    case .sending, .complete: confirmed
    case .discovering, .creating, .locating, .probing, .removing, .tryingPost, .gone: nil
    }
  }

  /// Whether a PATCH is in flight whose response counts. After an unexpected response, later requests are void, and their
  /// responses, if any, must not be passed in.
  package var awaitsStored: Bool { !inFlight.patches.isEmpty }

  // MARK: Requests

  /// What to do next. A returned request counts as in flight from now on.
  package mutating func next() -> Step {
    switch state {
    case .discovering: return .ask(HTTPRequest(method: "OPTIONS", target: plan.endpoint))
    case .creating: return .ask(creation())
    case .locating(let location): return .ask(TusUpload.head(of: detours.moved ?? location))
    case .probing(.creating, _, _): return .ask(emptyCreation())
    case .probing(.locatingNew(let new), _, _): return .ask(TusUpload.head(of: new))
    case .probing(.locatingOld, let old, _): return .ask(TusUpload.head(of: old))
    case .removing(let unused, _, _):
      return .ask(TusUpload.termination(of: unused, overridesMethod: detours.found.overridesMethod))
    case .tryingPost(let location, let confirmed): return .ask(emptyPatch(location, from: confirmed, asPost: true))
    case .sending(let location, let confirmed, let next): return send(to: location, confirmed, next)
    case .complete: return .complete
    case .gone: return .gone
    }
  }

  /// Asks for the server's offset.
  static func head(of location: TargetURI) -> HTTPRequest {
    HTTPRequest(method: "HEAD", target: location, fields: [TusFields.resumable, Field("Cache-Control", "no-cache")])
  }

  private mutating func creation() -> HTTPRequest {
    var request = emptyCreation()
    declaresLength = offer.defersLength && plan.options.defersLength
    var contentLength: Int64 = 0
    // A checksum is only sent with PATCH, because it must be known beforehand. The content never includes the last byte: if
    // the response is lost, the server must not have a complete upload with an unknown URL.
    if offer.createsWithUpload, inFlight.mayBeSentWithCreation, offer.checksum == nil, !declaresLength, !plan.isGrowing
    {
      contentLength = min(plan.length - 1, Limits.creationUploadLength)
      // Some servers want equal parts.
      if let chunkLength = plan.options.chunkLength { contentLength = chunkLength <= contentLength ? chunkLength : 0 }
    }
    if contentLength > 0 {
      request.fields.append(TusFields.contentType)
      request.body = plan.body(from: 0, length: contentLength)
    }
    disagreements = OffsetDisagreements(sentEnd: contentLength)
    return request
  }

  private func emptyCreation() -> HTTPRequest {
    var fields = [TusFields.resumable]
    let defers = offer.defersLength && plan.options.defersLength || plan.isGrowing
    fields.append(defers ? Field("Upload-Defer-Length", "1") : Field("Upload-Length", String(plan.length)))
    if !plan.metadata.isEmpty { fields.append(Field("Upload-Metadata", plan.metadata)) }
    if plan.partOffset != nil { fields.append(TusFields.partial) }
    return HTTPRequest(method: "POST", target: plan.endpoint, fields: fields, body: RequestBody())
  }

  /// The range of the next PATCH; nil if nothing can be sent before a response arrives.
  private var nextPatch: PatchRange? {
    guard case .sending(_, _, let next) = state else { return nil }
    let mayPipeline = sizing.pipelines && inFlight.patches.count == 1
    // Only the first request declares the length. If the server already has the whole file, an empty request does.
    let declares = declaresLength && inFlight.patches.isEmpty
    guard next < plan.length || declares, inFlight.patches.isEmpty || mayPipeline else { return nil }
    let wish = sizing.next(remaining: plan.length - next)
    return PatchRange(offset: next, length: min(wish, detours.longestRequest(at: next)))
  }

  private mutating func send(to location: TargetURI, _ confirmed: Int64, _ next: Int64) -> Step {
    guard let patch = nextPatch else {
      if awaitsStored { return .await }
      // Nothing is in flight whose response would help: ask where the server is.
      state = .locating(location)
      return .ask(TusUpload.head(of: location))
    }
    var request = emptyPatch(location, from: next, asPost: detours.found.overridesMethod)
    if let algorithm = offer.checksum {
      guard let checksum = inFlight.nextChecksum, checksum.patch == patch else {
        return .checksumOfNextPatch(algorithm, offset: plan.start + patch.offset, length: patch.length)
      }
      request.fields.append(Field("Upload-Checksum", algorithm.rawValue + " " + checksum.text))
    }
    if declaresLength, inFlight.patches.isEmpty { request.fields.append(Field("Upload-Length", String(plan.length))) }
    disagreements.send(to: patch.end, isPipelined: !inFlight.patches.isEmpty)
    inFlight.take(patch)
    state = .sending(location, confirmed: confirmed, next: patch.end)
    request.body = plan.body(from: patch.offset, length: patch.length)
    return .ask(request)
  }

  private func emptyPatch(_ location: TargetURI, from offset: Int64, asPost: Bool) -> HTTPRequest {
    var fields = [TusFields.resumable, TusFields.contentType, Field("Upload-Offset", String(offset))]
    if asPost { fields.append(Field("X-HTTP-Method-Override", "PATCH")) }
    return HTTPRequest(method: asPost ? "POST" : "PATCH", target: location, fields: fields, body: RequestBody())
  }

  /// Sets the checksum that ``next()`` asked for.
  package mutating func setChecksum(ofNextPatch digest: [UInt8]) {
    if let patch = nextPatch { inFlight.nextChecksum = (patch, Base64.encode(digest)) }
  }

  /// Whether the newest request in flight carries the file's last byte, or completes the upload with its length.
  var sendsLastByte: Bool { inFlight.patches.last?.end == plan.length }

  /// Whether the request in flight removes an upload that is not needed.
  var isRemoving: Bool { if case .removing = state { true } else { false } }

  /// Whether the offset is before the end of the oldest PATCH in flight.
  func isPart(_ offset: Int64) -> Bool { inFlight.patches.first.map { offset < $0.end } ?? false }

  /// Whether the file's last byte may have been sent with the requests in flight.
  /// - Parameter sent: how much of the oldest one's content was sent.
  func mayHaveSentLastByte(_ sent: ContentSent) -> Bool {
    sendsLastByte && (sent == .whole || inFlight.patches.count > 1)
  }

  /// Ends an upload on the server (the termination extension).
  package static func termination(of location: TargetURI, overridesMethod: Bool) -> HTTPRequest {
    var fields = [TusFields.resumable]
    if overridesMethod { fields.append(Field("X-HTTP-Method-Override", "DELETE")) }
    return HTTPRequest(
      method: overridesMethod ? "POST" : "DELETE", target: location, fields: fields, body: RequestBody())
  }

  // MARK: Interruptions

  /// The requests in flight ended without a usable response.
  /// - Parameters:
  ///   - arrived: how many bytes of their content the peer has acknowledged at least.
  ///   - sent: how much of the oldest one's content was sent.
  ///   - cutAfterMilliseconds: how long it was sent, if the peer stopped it while its content was moving.
  ///   - isUnreachable: whether nobody responds there.
  ///   - isUnknown: whether there is no such host.
  package mutating func interrupted(
    arrived: Int64, sent: ContentSent = .whole, cutAfterMilliseconds: Int64? = nil, isUnreachable: Bool = false,
    isUnknown: Bool = false
  ) {
    noteSent(sent)
    let wasMoved = detours.takeMoved(isAnswered: false) != nil
    defer {
      if isUnreachable, !wasMoved, case .locating(let location) = state {
        _ = detours.move(location, toOriginOf: plan.endpoint, isUnknown: isUnknown)
      }
    }
    switch state {
    case .creating:
      // If the server has created it, that upload expires.
      inFlight.mayBeSentWithCreation = inFlight.mayBeSentWithCreation && arrived == 0
    case .sending(let location, _, _):
      if inFlight.hasPipelined, !inFlight.patches.isEmpty { sizing.pipeliningFailed() }
      inFlight.interrupt(arrived: arrived, cutAfterMilliseconds: cutAfterMilliseconds)
      state = .locating(location)
    case .probing(.locatingNew(let new), let old, let claimed) where isUnreachable && moves(new, of: old, claimed):
      break
    // The next connection must prove its origin again before the upload counts as gone.
    case .probing(_, let old, _), .removing(_, let old, _), .tryingPost(let old, _): state = .locating(old)
    case .discovering, .locating, .complete, .gone: break
    }
  }

  /// - Parameter sent: how much of the content of the oldest request in flight was sent.
  mutating func noteSent(_ sent: ContentSent) {
    guard let end = inFlight.patches.first?.end else { return }
    if sent == .whole { disagreements.noteSent(to: end) } else { disagreements.noteCut(before: end) }
  }

  /// Whether an upload is asked for at the endpoint's origin, because nobody responds where it should be.
  package var isMoving: Bool { if case .probing(.locatingNew, _, _) = state { true } else { detours.moved != nil } }

  /// Asks for the server's offset again.
  mutating func locate() {
    if let location { dropPatches(to: .locating(location)) }
  }

  mutating func forbidPipelining() { sizing.forbidPipelining() }
  mutating func tryLink() { sizing.tryLink() }

  /// Starts over with a new upload, as after ``State/gone(_:replacement:)``, or with the replacement if there is one.
  package mutating func restart() {
    let replacement: TargetURI? = if case .gone(_, let new) = state { new } else { nil }
    state = replacement.map { .sending($0, confirmed: 0, next: 0) } ?? .creating
    unused = nil
    unusableLocation = nil
    expires = nil
    declaresLength = offer.defersLength && plan.options.defersLength
    inFlight.clear()
    disagreements = OffsetDisagreements(sentEnd: 0)
    detours.restart()
  }

  private mutating func dropPatches(to state: State) {
    inFlight.patches = []
    self.state = state
  }
}

/// How responses of a tus server change the state of an upload.
extension TusUpload {
  /// Handles the response to the oldest request in flight.
  /// - Parameters:
  ///   - target: the URI that answered, if it differs from the requested one after a redirect.
  ///   - sent: how much of the request's content was sent.
  ///   - milliseconds: the time from the request's last byte.
  package mutating func receive(
    status: Int, fields: [Field], from target: TargetURI? = nil, sent: ContentSent = .whole,
    afterMilliseconds milliseconds: Int64
  ) throws(TusError) {
    // After much content, the response time includes more than the round trip.
    let isLocating = if case .locating = state { true } else { false }
    if inFlight.patches.isEmpty, disagreements.sentEnd == 0 || isLocating {
      sizing.answered(afterMilliseconds: milliseconds)
    }
    noteExpires(fields)
    let verdict = Verdict.ofTus(status: status, fields: fields)
    switch state {
    case .discovering(let resuming): try receiveOffer(status, fields, resuming)
    case .creating: try receiveCreation(status, fields, verdict, from: target ?? plan.endpoint)
    case .locating(let location):
      if let moved = detours.takeMoved(isAnswered: true) {
        if let offset = offset(in: verdict, fields) {
          try accept(offset, fields, of: moved)
        } else if verdict.mayMeanGone, detours.isMisplaced {
          state = verdict == .tus(.gone) ? .gone(location, replacement: nil) : probing(moved, claimed: status)
        }
        // Otherwise, it is where the server says that it is.
        return
      }
      if let text = unusableLocation {
        guard let offset = offset(in: verdict, fields) else {
          (state, unusableLocation) = (.creating, nil)
          throw .unusableLocation(text)
        }
        return try accept(offset, fields, of: location)
      }
      try receiveOffset(verdict, status, fields, of: location)
    case .probing(let probe, let old, let claimed):
      try receive(verdict, status, fields, in: probe, of: old, claimed, from: target ?? plan.endpoint)
    // The response does not matter: a remaining upload expires.
    case .removing(_, let location, let confirmed): advance(location, to: confirmed)
    case .sending(let location, _, let next):
      guard let patch = inFlight.patches.first else { return }
      noteSent(sent)
      try receiveStored(verdict, status, patch, at: location, next, isWhole: sent == .whole)
    case .tryingPost(let location, let confirmed): try receiveTrial(verdict, status, fields, at: location, confirmed)
    case .complete, .gone: break
    }
  }

  private mutating func noteExpires(_ fields: [Field]) {
    if let text = fields.first("Upload-Expires"), text.utf8.count <= Limits.serverTextLength { expires = text }
  }

  // MARK: OPTIONS

  private mutating func receiveOffer(
    _ status: Int, _ fields: [Field], _ resuming: TargetURI?
  ) throws(TusError) {
    if status == 412 { throw versionMismatch(fields) }
    guard status == 200 || status == 204, let offer = try TusCapabilities(fields) else {
      throw .notSupported(status: status)
    }
    if let limit = offer.maximumSize, plan.length > limit { throw .tooLarge(size: plan.length, limit: limit) }
    self.offer = offer
    // A checksum needs the whole range before it is sent.
    if offer.checksum != nil { sizing.forbidPipelining() }
    state = resuming.map { .locating($0) } ?? .creating
  }

  /// The server does not say what it supports. Some do not answer OPTIONS.
  package mutating func assumeOffer() {
    guard case .discovering(let resuming) = state else { return }
    state = resuming.map { .locating($0) } ?? .creating
  }

  // MARK: POST

  private mutating func receiveCreation(
    _ status: Int, _ fields: [Field], _ verdict: Verdict, from target: TargetURI
  ) throws(TusError) {
    guard status == 201 else {
      if status == 412 { throw versionMismatch(fields) }
      // A proxy may accept the creation, but no content with it.
      if status >= 400, status < 500, disagreements.sentEnd > 0, status != 401, status != 403,
        !RetryPolicy.isTransient(status: status)
      {
        inFlight.mayBeSentWithCreation = false
        return
      }
      throw .refused(method: "POST", status: status)
    }
    let (location, isNamed) = try TusUpload.resolve(fields.first("Location"), from: target)
    // It exists from now on, whatever else the response says.
    state = .locating(location)
    if !isNamed {
      unusableLocation = fields.first("Location")
      return
    }
    let stored: Int64 = if case .tus(.offset(let offset)) = verdict { offset } else { 0 }
    guard stored <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: stored)
    }
    disagreements.noteOffset(stored)
    advance(location, to: stored)
  }

  /// Behind a TLS proxy a Location can start with http. The upload is then used with https.
  /// - Returns: `isNamed`: whether the server names this host. HEAD shows whether the upload is there nevertheless.
  static func resolve(
    _ text: String?, from target: TargetURI
  ) throws(TusError) -> (TargetURI, isNamed: Bool) {
    guard let text, !text.isEmpty else { throw .noLocation }
    guard let location = try? target.resolving(text) else {
      throw .unusableLocation(text)
    }
    guard target.scheme == .https, location.scheme == .http else { return (location, isNamed: true) }
    let moved = location.moved(toOriginOf: target)
    guard moved.text.utf8.count <= Limits.uriLength else {
      throw .unusableLocation(text)
    }
    return (moved, isNamed: location.host == target.host)
  }

  // MARK: HEAD

  /// What a HEAD of a URL that the server has not named proves: that it has this upload there, with this much of it.
  private func offset(in verdict: Verdict, _ fields: [Field]) -> Int64? {
    guard case .tus(.offset(let offset)) = verdict, fields.haveTusProof, fields.areFresh,
      offset <= disagreements.sentEnd,
      fields.tusNumber("Upload-Length") == plan.length || fields.first("Upload-Defer-Length") == "1"
    else { return nil }
    return offset
  }

  private mutating func receiveOffset(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], of location: TargetURI
  ) throws(TusError) {
    if verdict.isElsewhere, detours.move(location, toOriginOf: plan.endpoint) { return }
    switch verdict {
    case .tus(.offset) where !fields.areFresh, .tus(.gone) where !fields.areFresh: throw .cachedOffset
    case .tus(.offset(let offset)): try accept(offset, fields, of: location)
    case .tus(.gone): state = .gone(location, replacement: nil)
    // Some servers keep an upload locked for a while after its connection was lost.
    case .tus(.locked), .tus(.conflict): throw lock()
    case .tus(.success): throw .noOffset(status: status)
    case .somebodyElse(status: 404) where plan.options.isCreated,
      .somebodyElse(status: 410) where plan.options.isCreated:
      state = .gone(location, replacement: nil)
    case .somebodyElse(status: 404), .somebodyElse(status: 410):
      state = probing(location, claimed: status)
    case .tus(.unsupportedVersion), .tus(.tooLarge), .tus(.checksumMismatch), .tus(.refused), .gigHive, .somebodyElse:
      if status >= 200, status < 300 { throw .noOffset(status: status) }
      throw .refused(method: "HEAD", status: status)
    }
  }

  private mutating func accept(_ offset: Int64, _ fields: [Field], of location: TargetURI) throws(TusError) {
    // If it is in doubt again, another upload is created, because only a new one proves who answers.
    let unused = unused
    self.unused = nil
    unusableLocation = nil
    let isDeferred = fields.first("Upload-Defer-Length") == "1"
    declaresLength = isDeferred && !plan.isGrowing
    // An upload of another length belongs to another file, unless the server counts with fewer bits.
    if !isDeferred, let stated = fields.tusNumber("Upload-Length"), stated != plan.length {
      if stated == plan.length & 0x7FFF_FFFF || stated == plan.length & 0xFFFF_FFFF {
        throw .lengthTruncated(length: plan.length, stated: stated)
      }
      if plan.options.isCreated { throw .lengthDiffers(length: plan.length, stated: stated) }
      state = .gone(location, replacement: nil)
      return
    }
    guard offset <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: offset)
    }
    disagreements.noteOffset(offset, isProgress: inFlight.learn(from: offset, &sizing))
    let isLocked = disagreements.wasLock(at: offset)
    advance(location, to: offset)
    if isLocked { throw lock() }
    if detours.refusal != nil, case .sending = state { state = .tryingPost(location, confirmed: offset) }
    if let unused, offer.terminates, case .sending = state {
      state = .removing(unused, of: location, confirmed: offset)
    }
  }

  /// The server has locked the upload: requests are short until it has stored something.
  private mutating func lock() -> TusError {
    sizing.locked()
    return .locked
  }

  // MARK: Probing

  /// Somebody without proof says that the upload is gone.
  private func probing(_ old: TargetURI, claimed: Int) -> State {
    .probing(unused.map { .locatingNew($0) } ?? .creating, of: old, claimed: claimed)
  }

  private mutating func receive(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], in probe: Probe, of old: TargetURI, _ claimed: Int,
    from target: TargetURI
  ) throws(TusError) {
    let isProved = fields.haveTusProof
    switch probe {
    case .creating:
      guard status == 201, isProved else { throw abandonProbe(of: old, claimed) }
      let (new, _) = try TusUpload.resolve(fields.first("Location"), from: target)
      // Some servers give the same file the same URL: that upload must not be removed as an unused one.
      unused = new == old ? nil : new
      state = .probing(.locatingNew(new), of: old, claimed: claimed)
    case .locatingNew(let new):
      guard case .tus(.offset(let offset)) = verdict, isProved else {
        if verdict.isElsewhere, moves(new, of: old, claimed) { return }
        // If that is about this upload, and not about all, the next attempt needs another one.
        if status == 404 || status == 410 { unused = nil }
        throw abandonProbe(of: old, claimed)
      }
      if new != old {
        state = .probing(.locatingOld(new: new), of: old, claimed: claimed)
      } else if offset > 0 {
        try accept(offset, fields, of: old)
      } else {
        // An empty upload took the place of the old one.
        state = .gone(old, replacement: new)
      }
    case .locatingOld(let new):
      switch verdict {
      case _ where verdict.mayMeanGone: state = .gone(old, replacement: new)
      case .tus(.offset(let offset)): try accept(offset, fields, of: old)
      case .tus, .gigHive, .somebodyElse: throw abandonProbe(of: old, status)
      }
    }
  }

  /// The new upload is not where the server says that it is.
  /// - Returns: whether it may be at the same path of the endpoint's origin.
  private mutating func moves(_ new: TargetURI, of old: TargetURI, _ claimed: Int) -> Bool {
    guard new.origin != plan.endpoint.origin else { return false }
    let moved = new.moved(toOriginOf: plan.endpoint)
    guard moved.text.utf8.count <= Limits.uriLength else { return false }
    unused = moved == old ? nil : moved
    state = .probing(.locatingNew(moved), of: old, claimed: claimed)
    return true
  }

  private mutating func abandonProbe(of old: TargetURI, _ status: Int) -> TusError {
    state = .locating(old)
    return .unproved(status: status)
  }

  // MARK: PATCH

  private mutating func receiveStored(
    _ verdict: Verdict, _ status: Int, _ patch: PatchRange, at location: TargetURI, _ next: Int64, isWhole: Bool
  ) throws(TusError) {
    inFlight.nextChecksum = nil
    switch verdict {
    case .tus(.offset(let offset)): return try confirm(patch, offset, at: location, next, isWhole: isWhole)
    case .tus(.success): return try locateAgain(location, patch.offset)
    case _ where status < 500 && verdict.isElsewhere && detours.move(location, toOriginOf: plan.endpoint):
      return dropPatches(to: .locating(location))
    case .tus(.gone): return dropPatches(to: .gone(location, replacement: nil))
    // The server is at another offset, which then counts, or has locked the upload.
    case .tus(.conflict):
      disagreements.noteConflict(at: patch.offset)
      return dropPatches(to: .locating(location))
    case .tus(.tooLarge) where sizing.refused(requestLength: patch.length):
      return dropPatches(to: .locating(location))
    case .somebodyElse(let status) where detours.leadAround(status, patch, isPinned: plan.options.chunkLength != nil):
      return dropPatches(to: .locating(location))
    case .somebodyElse(let status) where detours.isAboutContent(status, at: patch.offset):
      inFlight.patches.removeFirst()
      throw .contentRefused(offset: patch.offset, status: status)
    // After a delay, HEAD shows whether it is true.
    case .somebodyElse(status: 404), .somebodyElse(status: 410), .somebodyElse(status: 200..<300):
      throw .unproved(status: status)
    // As after a lost connection, the offset shows how much of the request was kept.
    case .somebodyElse(status: 408), .somebodyElse(status: 500...), .tus(.refused(status: 500...)):
      throw .refused(method: "PATCH", status: status)
    case .tus(.tooLarge), .tus(.locked), .tus(.checksumMismatch), .tus(.unsupportedVersion), .tus(.refused), .gigHive,
      .somebodyElse:
      break
    }
    // A refusal for another reason says nothing about how content is stored.
    inFlight.patches.removeFirst()
    switch verdict {
    case .tus(.locked): throw lock()
    case .tus(.checksumMismatch): throw .checksumMismatch(offset: patch.offset)
    default: throw .refused(method: "PATCH", status: status)
    }
  }

  private mutating func confirm(
    _ patch: PatchRange, _ offset: Int64, at location: TargetURI, _ next: Int64, isWhole: Bool
  ) throws(TusError) {
    guard offset <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: offset)
    }
    // The response to a later request: something in between has changed their order.
    guard offset <= patch.end else {
      sizing.forbidPipelining()
      return try locateAgain(location, patch.offset)
    }
    guard offset > patch.offset || patch.length == 0 else { return try locateAgain(location, patch.offset) }
    detours.noteStored()
    let isProgress = !isWhole || patch.isFair(offset - patch.offset)
    disagreements.noteOffset(offset, isProgress: isProgress)
    guard isProgress || disagreements.mayDisagree() else { throw .nothingStored(offset: offset) }
    sizing.stored(offset - patch.offset)
    // A server that has stored a part of the first request has the length, too.
    declaresLength = false
    guard offset == patch.end else {
      // The server stored a part of it: continue there. Later requests are void.
      dropPatches(to: .sending(location, confirmed: offset, next: offset))
      return
    }
    inFlight.patches.removeFirst()
    if inFlight.hasPipelined, inFlight.patches.isEmpty { sizing.pipeliningSucceeded() }
    state = offset == plan.length ? .complete(location) : .sending(location, confirmed: offset, next: next)
  }

  /// The response to a PATCH without content that was sent as a POST. Only a tus server gives it.
  private mutating func receiveTrial(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], at location: TargetURI, _ confirmed: Int64
  ) throws(TusError) {
    switch verdict {
    // By the refused request, which the server may still work on. Then the trial is repeated.
    case .tus(.locked), .tus(.conflict):
      state = .locating(location)
      throw lock()
    default: state = .sending(location, confirmed: confirmed, next: confirmed)
    }
    let refusal = detours.refusal ?? 0
    let isTaken = status == 204 && verdict == .tus(.offset(confirmed)) && fields.haveTusProof
    detours.endTrial(isTaken: isTaken)
    guard isTaken else { throw .refused(method: "PATCH", status: refusal) }
  }

  /// Asks for the offset, unless that has failed to help several times.
  private mutating func locateAgain(_ location: TargetURI, _ offset: Int64) throws(TusError) {
    guard disagreements.mayDisagree() else { throw .nothingStored(offset: offset) }
    dropPatches(to: .locating(location))
  }

  private mutating func advance(_ location: TargetURI, to offset: Int64) {
    // A server that has every byte may still need the length.
    let isComplete = offset == plan.length && !declaresLength
    state = isComplete ? .complete(location) : .sending(location, confirmed: offset, next: offset)
  }

  private func versionMismatch(_ fields: [Field]) -> TusError {
    .versionNotSupported(offered: fields.offeredTusVersions)
  }
}

/// The PATCH requests in flight, and the last interrupted ones. It outlives the state in which they were sent: the server's offset, which
/// arrives in a later one, shows how much of them was kept.
struct TusInFlight: Sendable {
  /// Those without a response, oldest first.
  var patches: [PatchRange] = []
  /// Whether the last one was pipelined.
  private(set) var hasPipelined = false
  /// The checksum of the next request's content, in Base64.
  var nextChecksum: (patch: PatchRange, text: String)?
  /// The requests of the last interruption, how many of their bytes had arrived at the peer, and how long the oldest was sent if the
  /// peer stopped it.
  private var interrupted: (patches: [PatchRange], arrived: Int64, cutAfter: Int64?)?
  /// Whether content may be sent with the creation.
  var mayBeSentWithCreation = true

  mutating func take(_ patch: PatchRange) {
    hasPipelined = !patches.isEmpty
    patches.append(patch)
  }

  mutating func interrupt(arrived: Int64, cutAfterMilliseconds: Int64?) {
    interrupted = (patches, arrived, cutAfterMilliseconds)
    patches = []
    nextChecksum = nil
  }

  mutating func clear() {
    patches = []
    interrupted = nil
    nextChecksum = nil
  }

  /// Compares the server's offset with the interrupted requests, and adapts the sizing.
  /// - Returns: whether the server has kept a fair part of what has arrived.
  mutating func learn(from offset: Int64, _ sizing: inout ChunkSizing) -> Bool {
    guard let interrupted else { return true }
    self.interrupted = nil
    var arrived = interrupted.arrived
    for patch in interrupted.patches {
      if offset < patch.end || patch == interrupted.patches.last {
        let kept = min(max(0, offset - patch.offset), patch.length)
        sizing.interrupted(
          kept: kept, arrived: arrived, requestLength: patch.length, cutAfterMilliseconds: interrupted.cutAfter)
        return arrived < patch.length || patch.isFair(kept)
      }
      arrived = max(0, arrived - patch.length)
    }
    return true
  }
}

/// The range of the file that one PATCH carries, in bytes.
struct PatchRange: Equatable, Sendable {
  let offset: Int64
  let length: Int64
  var end: Int64 { offset + length }

  func isFair(_ kept: Int64) -> Bool { FullSends.isProgress(kept, of: length) }
}
