/// One upload by the tus protocol 1.0.0 (tus.io/protocols/resumable-upload), without the connection: it says what to ask
/// next, and is told the answers and the interruptions.
///
///     discovering ──▶ creating ──▶ sending ──▶ complete
///          │              ▲         │   ▲
///          └──▶ locating ─┼─────────┼───┘
///               │    │    │         │ (interrupted)
///               │    ▼    │         ▼
///               │   gone ─┘      locating
///               ▼    ▲
///             probing (somebody who is not the server said that the upload is gone)
package struct TusUpload: Sendable {
  package enum State: Equatable, Sendable {
    /// What does the server offer? (OPTIONS)
    case discovering
    /// A new upload is to be created. (POST)
    case creating
    /// How much has the server? (HEAD)
    case locating
    /// Is it the server that says the upload is gone?
    case probing(Probe)
    /// The server has `acknowledged` bytes; the next request begins at `next`. (PATCH)
    case sending(acknowledged: Int64, next: Int64)
    /// The server has every byte.
    case complete
    /// The server does not know the upload (any more). `replacement` is a new one that was created to learn that.
    case gone(replacement: TargetURI?)
  }

  /// How a 404 that proves nothing is examined: a server that creates an upload and knows it is the server; if the old
  /// address then still leads nowhere, the old upload is gone.
  package enum Probe: Equatable, Sendable {
    /// (POST)
    case creating
    /// (HEAD of the new one)
    case locatingNew(TargetURI)
    /// (HEAD of the old one)
    case locatingOld(new: TargetURI)
    /// The old one is there: the new one is not needed. (DELETE)
    case removingNew(TargetURI, acknowledged: Int64)
  }

  /// What to do next.
  package enum Step: Equatable, Sendable {
    case ask(HTTPRequest)
    /// Compute the checksum of a range of the file, and tell it with ``setChecksum(_:)``.
    case checksum(TusOffer.ChecksumAlgorithm, offset: Int64, length: Int64)
    /// Nothing before an answer comes.
    case await
    case complete
    case gone
  }

  /// What the caller can choose.
  package struct Options: Equatable, Sendable {
    /// Tell the length with the first bytes rather than at creation (`Upload-Defer-Length`), if the server offers that.
    package var defersLength = false
    /// PATCH as POST with `X-HTTP-Method-Override`, for proxies that know no PATCH.
    package var overridesMethod = false
    /// The length of all PATCH requests, in bytes; nil lets it adapt.
    package var chunkLength: Int64?

    package init() {}
  }

  /// What was asked for.
  struct Plan: Sendable {
    let endpoint: TargetURI
    /// The file's size in bytes.
    let length: Int64
    /// The value of Upload-Metadata.
    let metadata: String
    let options: Options
  }

  /// Where the upload is, as the server said.
  struct Resource: Sendable {
    var location: TargetURI?
    /// Upload-Expires, as it came.
    var expires: String?
    /// Is the server still to be told how long the upload is?
    var declaresLength = false
  }

  let plan: Plan
  package internal(set) var state = State.discovering
  package internal(set) var offer = TusOffer()
  var resource: Resource
  var sizing: ChunkSizing
  var inFlight = TusInFlight()
  var agreement: OffsetAgreement

  /// - Parameters:
  ///   - endpoint: where uploads are created.
  ///   - length: the file's size in bytes.
  ///   - metadata: keys are unique visible ASCII.
  ///   - location: that of an upload to resume.
  package init(
    endpoint: TargetURI, length: Int64, metadata: [FormField], location: TargetURI? = nil, options: Options = Options()
  ) throws(TusError) {
    plan = Plan(
      endpoint: endpoint, length: length, metadata: try TusFields.metadata(metadata), options: options)
    resource = Resource(location: location)
    sizing = ChunkSizing(pinned: options.chunkLength)
    agreement = OffsetAgreement(sentEnd: location == nil ? 0 : length)
  }

  /// The upload's address, once it is created.
  package var location: TargetURI? { resource.location }

  /// The server's Upload-Expires, as it came.
  package var expires: String? { resource.expires }

  /// Bytes that the server is known to have.
  package var acknowledged: Int64 {
    switch state {
    case .sending(let acknowledged, _), .probing(.removingNew(_, let acknowledged)): acknowledged
    case .complete: plan.length
    case .discovering, .creating, .locating, .probing, .gone: 0
    }
  }

  /// Is a PATCH under way whose answer counts? After an answer that was not the expected one, those behind it are void,
  /// and their answers, if any come, must not be told.
  package var awaitsStored: Bool { !inFlight.patches.isEmpty }

  // MARK: Asking

  /// What to do next. A request counts as under way from here on.
  package mutating func next() -> Step {
    switch state {
    case .discovering: return .ask(HTTPRequest(method: "OPTIONS", target: plan.endpoint))
    case .creating: return .ask(creation())
    case .locating: return resource.location.map { .ask(head($0)) } ?? .gone
    case .probing(.creating): return .ask(emptyCreation())
    case .probing(.locatingNew(let new)): return .ask(head(new))
    case .probing(.locatingOld): return resource.location.map { .ask(head($0)) } ?? .gone
    case .probing(.removingNew(let new, _)):
      return .ask(TusUpload.termination(of: new, overridesMethod: plan.options.overridesMethod))
    case .sending(let acknowledged, let next): return send(acknowledged, next)
    case .complete: return .complete
    case .gone: return .gone
    }
  }

  private func head(_ location: TargetURI) -> HTTPRequest {
    HTTPRequest(method: "HEAD", target: location, fields: [TusFields.resumable])
  }

  private mutating func creation() -> HTTPRequest {
    var request = emptyCreation()
    resource.declaresLength = offer.defersLength && plan.options.defersLength
    var contentLength: Int64 = 0
    // A checksum would have to be known before: the first PATCH carries it. The last byte is never among the content: if the
    // answer is lost, the server must not have a whole upload that nobody knows the address of.
    if offer.createsWithUpload, inFlight.mayGoWithCreation, offer.checksum == nil, !resource.declaresLength {
      contentLength = min(plan.length - 1, Limits.creationUploadLength, plan.options.chunkLength ?? plan.length)
    }
    if contentLength > 0 {
      request.fields.append(TusFields.contentType)
      request.body = RequestBody(fileOffset: 0, fileLength: contentLength)
    }
    agreement.sentEnd = contentLength
    return request
  }

  private func emptyCreation() -> HTTPRequest {
    var fields = [TusFields.resumable]
    let defers = offer.defersLength && plan.options.defersLength
    fields.append(defers ? Field("Upload-Defer-Length", "1") : Field("Upload-Length", String(plan.length)))
    if !plan.metadata.isEmpty { fields.append(Field("Upload-Metadata", plan.metadata)) }
    return HTTPRequest(method: "POST", target: plan.endpoint, fields: fields, body: RequestBody())
  }

  /// What of the file the next PATCH carries; nil if nothing is to be sent before an answer comes.
  var nextPatch: PatchRange? {
    guard case .sending(_, let next) = state else { return nil }
    let mayPipeline = sizing.pipelines && inFlight.patches.count == 1
    // The first request alone tells the length; a whole file that the server has already needs an empty one for that.
    let declares = resource.declaresLength && inFlight.patches.isEmpty
    guard next < plan.length || declares, inFlight.patches.isEmpty || mayPipeline else { return nil }
    return PatchRange(offset: next, length: sizing.next(remaining: plan.length - next))
  }

  private mutating func send(_ acknowledged: Int64, _ next: Int64) -> Step {
    guard let patch = nextPatch, let location = resource.location else { return .await }
    var fields = [TusFields.resumable, TusFields.contentType, Field("Upload-Offset", String(next))]
    if let algorithm = offer.checksum {
      guard let checksum = inFlight.checksum, checksum.patch == patch else {
        return .checksum(algorithm, offset: patch.offset, length: patch.length)
      }
      fields.append(Field("Upload-Checksum", algorithm.rawValue + " " + checksum.text))
    }
    if resource.declaresLength, inFlight.patches.isEmpty { fields.append(Field("Upload-Length", String(plan.length))) }
    if plan.options.overridesMethod { fields.append(Field("X-HTTP-Method-Override", "PATCH")) }
    inFlight.take(patch)
    agreement.sentEnd = max(agreement.sentEnd, patch.end)
    state = .sending(acknowledged: acknowledged, next: patch.end)
    return .ask(
      HTTPRequest(
        method: plan.options.overridesMethod ? "POST" : "PATCH", target: location, fields: fields,
        body: RequestBody(fileOffset: patch.offset, fileLength: patch.length)))
  }

  /// The checksum that ``next()`` has asked for, in base 64.
  package mutating func setChecksum(_ text: String) {
    if let patch = nextPatch { inFlight.checksum = (patch, text) }
  }

  /// Does the next request carry the file's last byte? From there on the server can have the whole upload.
  package var endsNext: Bool { nextPatch.map { $0.end == plan.length } ?? false }

  /// Does the offset lie before the end of the oldest PATCH under way?
  func isPart(_ offset: Int64) -> Bool { inFlight.patches.first.map { offset < $0.end } ?? false }

  /// Can the file's last byte have gone out with the requests under way?
  /// - Parameter sent: how much of the oldest one's content has.
  func mayHaveSentEnd(_ sent: ContentSent) -> Bool {
    inFlight.patches.last?.end == plan.length && (sent == .whole || inFlight.patches.count > 1)
  }

  /// Ends an upload on the server (the termination extension).
  package static func termination(of location: TargetURI, overridesMethod: Bool) -> HTTPRequest {
    var fields = [TusFields.resumable]
    if overridesMethod { fields.append(Field("X-HTTP-Method-Override", "DELETE")) }
    return HTTPRequest(
      method: overridesMethod ? "POST" : "DELETE", target: location, fields: fields, body: RequestBody())
  }

  // MARK: Interruptions

  /// The connection ended, or the answer was no use, before the requests under way were answered.
  /// - Parameter arrived: how many bytes of their content the other side has acknowledged at least.
  package mutating func interrupted(arrived: Int64) {
    switch state {
    case .creating:
      // Should the server have taken it, it has an upload that expires.
      inFlight.mayGoWithCreation = inFlight.mayGoWithCreation && arrived == 0
    case .sending:
      if inFlight.hasPipelined, !inFlight.patches.isEmpty { sizing.pipeliningFailed() }
      inFlight.interrupt(arrived: arrived)
      state = .locating
    // The new upload is kept: to create one more each time would have no end. Who answers on the next connection proves
    // itself again before it is believed that the old one is gone.
    case .probing(.locatingNew(let new)), .probing(.locatingOld(let new)): state = .probing(.locatingNew(new))
    case .probing(.creating), .probing(.removingNew): state = .locating
    case .discovering, .locating, .complete, .gone: break
    }
  }

  /// Asks for the server's offset once more.
  package mutating func locate() { lose(.locating) }

  /// Requests wait for the answers to those before them.
  package mutating func forbidPipelining() { sizing.forbidPipelining() }

  /// Begins with a new upload, as after ``State/gone(replacement:)``: with the replacement, if there is one.
  package mutating func restart() {
    let replacement: TargetURI? = if case .gone(let new) = state { new } else { nil }
    resource = Resource(location: replacement, declaresLength: resource.declaresLength)
    inFlight.clear()
    agreement = OffsetAgreement(sentEnd: 0)
    resource.declaresLength = offer.defersLength && plan.options.defersLength
    state = replacement == nil ? .creating : .sending(acknowledged: 0, next: 0)
  }

  mutating func lose(_ state: State) {
    inFlight.patches = []
    self.state = state
  }
}
