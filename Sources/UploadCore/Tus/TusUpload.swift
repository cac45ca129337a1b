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

  /// What to do next.
  package enum Step: Equatable, Sendable {
    case ask(HTTPRequest)
    /// Compute the checksum of the next PATCH's content, which is this range of the file, then call
    /// ``setChecksum(ofNextPatch:)``.
    case checksumOfNextPatch(TusCapabilities.ChecksumAlgorithm, offset: Int64, length: Int64)
    /// Wait for a response.
    case await
    case complete
    case gone
  }

  /// What the caller can choose.
  package struct Options: Equatable, Sendable {
    /// Send the length with the first bytes instead of at creation (`Upload-Defer-Length`), if the server supports it.
    package var defersLength = false
    /// Send PATCH and DELETE as POST with `X-HTTP-Method-Override`, for proxies that block them.
    package var overridesMethod = false
    /// The length of all PATCH requests, in bytes; nil to adapt.
    package var chunkLength: Int64?

    package init() {}
  }

  /// The upload to make.
  struct Plan: Sendable {
    let endpoint: TargetURI
    /// The file's size in bytes.
    let length: Int64
    /// The value of Upload-Metadata.
    let metadata: String
    let options: Options
  }

  let plan: Plan
  package internal(set) var state: State
  package internal(set) var offer = TusCapabilities()
  /// The server's Upload-Expires, verbatim.
  package internal(set) var expires: String?
  /// Whether the server still needs the length of the upload.
  var declaresLength = false
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
    if offer.createsWithUpload, inFlight.mayBeSentWithCreation, offer.checksum == nil, !declaresLength {
      contentLength = min(plan.length - 1, Limits.creationUploadLength)
      // Some servers want equal parts.
      if let chunkLength = plan.options.chunkLength { contentLength = chunkLength <= contentLength ? chunkLength : 0 }
    }
    if contentLength > 0 {
      request.fields.append(TusFields.contentType)
      request.body = RequestBody(fileOffset: 0, fileLength: contentLength)
    }
    disagreements = OffsetDisagreements(sentEnd: contentLength)
    return request
  }

  private func emptyCreation() -> HTTPRequest {
    var fields = [TusFields.resumable]
    let defers = offer.defersLength && plan.options.defersLength
    fields.append(defers ? Field("Upload-Defer-Length", "1") : Field("Upload-Length", String(plan.length)))
    if !plan.metadata.isEmpty { fields.append(Field("Upload-Metadata", plan.metadata)) }
    return HTTPRequest(method: "POST", target: plan.endpoint, fields: fields, body: RequestBody())
  }

  /// The range of the next PATCH; nil if nothing can be sent before a response arrives.
  var nextPatch: PatchRange? {
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
        return .checksumOfNextPatch(algorithm, offset: patch.offset, length: patch.length)
      }
      request.fields.append(Field("Upload-Checksum", algorithm.rawValue + " " + checksum.text))
    }
    if declaresLength, inFlight.patches.isEmpty { request.fields.append(Field("Upload-Length", String(plan.length))) }
    disagreements.send(to: patch.end, isPipelined: !inFlight.patches.isEmpty)
    inFlight.take(patch)
    state = .sending(location, confirmed: confirmed, next: patch.end)
    request.body = RequestBody(fileOffset: patch.offset, fileLength: patch.length)
    return .ask(request)
  }

  /// A PATCH without content.
  private func emptyPatch(_ location: TargetURI, from offset: Int64, asPost: Bool) -> HTTPRequest {
    var fields = [TusFields.resumable, TusFields.contentType, Field("Upload-Offset", String(offset))]
    if asPost { fields.append(Field("X-HTTP-Method-Override", "PATCH")) }
    return HTTPRequest(method: asPost ? "POST" : "PATCH", target: location, fields: fields, body: RequestBody())
  }

  /// Sets the checksum that ``next()`` asked for, in Base64.
  package mutating func setChecksum(ofNextPatch text: String) {
    if let patch = nextPatch { inFlight.nextChecksum = (patch, text) }
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

  /// Whether the upload is asked for at the endpoint's origin, because nobody responds where it should be.
  package var isMoving: Bool { detours.moved != nil }

  /// Asks for the server's offset again.
  package mutating func locate() {
    if let location { dropPatches(to: .locating(location)) }
  }

  /// From now on, requests wait for earlier responses.
  package mutating func forbidPipelining() { sizing.forbidPipelining() }

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

  mutating func dropPatches(to state: State) {
    inFlight.patches = []
    self.state = state
  }
}
