/// A request of the tus protocol, to be sent with the client's general fields.
package struct TusRequest: Equatable, Sendable {
  package let method: String
  package let target: TargetURI
  package let fields: [Field]
  /// Where in the file the content begins, in bytes.
  package var fileOffset: Int64 = 0
  /// Content of the request, in bytes; nil if it has none.
  package var contentLength: Int64?
}

/// One upload by the tus protocol 1.0.0 (tus.io/protocols/resumable-upload), without the connection: it says what to ask
/// next, and is told the answers and the interruptions.
///
///     discovering ──▶ creating ──▶ sending ──▶ complete
///          │              ▲         │   ▲
///          └──▶ locating ─┼─────────┼───┘
///                  │      │         │ (interrupted)
///                  ▼      │         ▼
///                 gone ───┘      locating
package struct TusUpload: Sendable {
  package enum State: Equatable, Sendable {
    /// What does the server offer? (OPTIONS)
    case discovering
    /// A new upload is to be created. (POST)
    case creating
    /// How much has the server? (HEAD)
    case locating
    /// The server has `acknowledged` bytes; the next request begins at `next`. (PATCH)
    case sending(acknowledged: Int64, next: Int64)
    /// The server has every byte.
    case complete
    /// The server does not know the upload (any more).
    case gone
  }

  /// What to do next.
  package enum Step: Equatable, Sendable {
    case ask(TusRequest)
    /// Compute the checksum of a stretch of the file, and tell it with ``setChecksum(_:)``.
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

  /// A request under way.
  private struct Stretch: Equatable {
    let offset: Int64
    let length: Int64
    var end: Int64 { offset + length }
  }

  private let endpoint: TargetURI
  private let length: Int64
  private let metadata: String
  private let options: Options
  package private(set) var state = State.discovering
  package private(set) var offer = TusOffer()
  /// The upload's address, once it is created.
  package private(set) var location: TargetURI?
  /// The server's Upload-Expires, as it came.
  package private(set) var expires: String?
  private var sizing: ChunkSizing
  private var mayCreateWithUpload = true
  private var declaresLength = false
  /// The end of what was sent, as far as this process can know: nobody can have more.
  private var sentEnd: Int64
  /// Answers to PATCH that did not confirm what was sent, since the server had more than ever before.
  private var disagreements = 0
  private var reached: Int64 = 0
  private var checksum: (stretch: Stretch, text: String)?
  /// PATCH requests without an answer, oldest first.
  private var underWay: [Stretch] = []
  /// Was the last one sent before the one before it was answered?
  private var hasOverlapped = false
  /// What the last interruption cut, and how many bytes of it had arrived at the other side.
  private var cut: (stretches: [Stretch], arrived: Int64)?

  /// - Parameters:
  ///   - endpoint: where uploads are created.
  ///   - length: the file's size in bytes.
  ///   - metadata: keys are unique visible ASCII.
  ///   - location: that of an upload to go on with.
  package init(
    endpoint: TargetURI, length: Int64, metadata: [FormField], location: TargetURI? = nil, options: Options = Options()
  ) throws(TusError) {
    self.endpoint = endpoint
    self.length = length
    self.metadata = try TusFields.metadata(metadata)
    self.location = location
    self.options = options
    sizing = ChunkSizing(pinned: options.chunkLength)
    sentEnd = location == nil ? 0 : length
  }

  /// Bytes that the server is known to have.
  package var acknowledged: Int64 {
    switch state {
    case .sending(let acknowledged, _): acknowledged
    case .complete: length
    case .discovering, .creating, .locating, .gone: 0
    }
  }

  /// Is a request under way whose answer counts? After an answer that was not the expected one, those behind it are void,
  /// and their answers, if any come, must not be told.
  package var awaitsStored: Bool { !underWay.isEmpty }

  // MARK: Asking

  /// What to do next. A request counts as under way from here on.
  package mutating func next() -> Step {
    switch state {
    case .discovering: return .ask(TusRequest(method: "OPTIONS", target: endpoint, fields: []))
    case .creating: return .ask(creation())
    case .locating:
      return location.map { .ask(TusRequest(method: "HEAD", target: $0, fields: [TusFields.resumable])) } ?? .gone
    case .sending(let acknowledged, let next): return send(acknowledged, next)
    case .complete: return .complete
    case .gone: return .gone
    }
  }

  private mutating func creation() -> TusRequest {
    var fields = [TusFields.resumable]
    declaresLength = offer.defersLength && options.defersLength
    fields.append(declaresLength ? Field("Upload-Defer-Length", "1") : Field("Upload-Length", String(length)))
    if !metadata.isEmpty { fields.append(Field("Upload-Metadata", metadata)) }
    var contentLength: Int64 = 0
    // A checksum would have to be known before: the first PATCH carries it.
    if offer.createsWithUpload, mayCreateWithUpload, offer.checksum == nil, !declaresLength {
      contentLength = min(length, Limits.creationUploadLength, options.chunkLength ?? length)
      fields.append(TusFields.contentType)
    }
    sentEnd = contentLength
    return TusRequest(method: "POST", target: endpoint, fields: fields, contentLength: contentLength)
  }

  private mutating func send(_ acknowledged: Int64, _ next: Int64) -> Step {
    let mayOverlap = sizing.overlaps && underWay.count == 1
    // The first request alone tells the length; a whole file that the server has already needs an empty one for that.
    let declares = declaresLength && underWay.isEmpty
    guard next < length || declares, underWay.isEmpty || mayOverlap, let location else { return .await }
    let stretch = Stretch(offset: next, length: sizing.next(remaining: length - next))
    var fields = [TusFields.resumable, TusFields.contentType, Field("Upload-Offset", String(next))]
    if let algorithm = offer.checksum {
      guard let checksum, checksum.stretch == stretch else {
        return .checksum(algorithm, offset: stretch.offset, length: stretch.length)
      }
      fields.append(Field("Upload-Checksum", algorithm.rawValue + " " + checksum.text))
    }
    if declares { fields.append(Field("Upload-Length", String(length))) }
    if options.overridesMethod { fields.append(Field("X-HTTP-Method-Override", "PATCH")) }
    hasOverlapped = !underWay.isEmpty
    underWay.append(stretch)
    sentEnd = max(sentEnd, stretch.end)
    state = .sending(acknowledged: acknowledged, next: stretch.end)
    return .ask(
      TusRequest(
        method: options.overridesMethod ? "POST" : "PATCH", target: location, fields: fields,
        fileOffset: stretch.offset, contentLength: stretch.length))
  }

  /// The checksum that ``next()`` has asked for, in base 64.
  package mutating func setChecksum(_ text: String) {
    guard case .sending(_, let next) = state else { return }
    checksum = (Stretch(offset: next, length: sizing.next(remaining: length - next)), text)
  }

  /// Ends the upload on the server (the termination extension).
  package static func termination(of location: TargetURI, overridesMethod: Bool) -> TusRequest {
    var fields = [TusFields.resumable]
    if overridesMethod { fields.append(Field("X-HTTP-Method-Override", "DELETE")) }
    return TusRequest(method: overridesMethod ? "POST" : "DELETE", target: location, fields: fields, contentLength: 0)
  }

  // MARK: Answers

  /// Takes the answer to the oldest request under way.
  /// - Parameters:
  ///   - target: who answered, if it is not whom was asked, as after a redirection.
  ///   - milliseconds: how long it took from the request's last byte.
  package mutating func receive(
    status: Int, fields: [Field], from target: TargetURI? = nil, afterMilliseconds milliseconds: Int64
  ) throws(TusError) {
    // Behind much content the answer waits for more than the distance.
    if underWay.isEmpty, sentEnd == 0 || state == .locating { sizing.answered(afterMilliseconds: milliseconds) }
    if let text = fields.first("Upload-Expires"), text.utf8.count <= Limits.serverTextLength { expires = text }
    switch state {
    case .discovering: try receiveOffer(status, fields)
    case .creating: try receiveCreation(status, fields, from: target ?? endpoint)
    case .locating: try receiveOffset(status, fields)
    case .sending(_, let next): try receiveStored(status, fields, next)
    case .complete, .gone: preconditionFailure("an answer to no request")
    }
  }

  private mutating func receiveOffer(_ status: Int, _ fields: [Field]) throws(TusError) {
    if status == 412 { throw versionMismatch(fields) }
    guard status == 200 || status == 204, let offer = try TusOffer(fields) else {
      throw .notSpoken(status: status)
    }
    if let limit = offer.maximumSize, length > limit { throw .tooLarge(size: length, limit: limit) }
    self.offer = offer
    // A checksum takes a look at the whole stretch before it is sent.
    if offer.checksum != nil { sizing.forbidOverlap() }
    state = location == nil ? .creating : .locating
  }

  /// Goes on although the server does not say what it offers: some answer no OPTIONS.
  package mutating func assumeOffer() {
    precondition(state == .discovering)
    state = location == nil ? .creating : .locating
  }

  private mutating func receiveCreation(_ status: Int, _ fields: [Field], from target: TargetURI) throws(TusError) {
    guard status == 201 else {
      if status == 412 { throw versionMismatch(fields) }
      // A proxy may take the creation, and no content along with it.
      if status >= 400, status < 500, offer.createsWithUpload, mayCreateWithUpload, status != 401, status != 403 {
        mayCreateWithUpload = false
        return
      }
      throw .refused(method: "POST", status: status)
    }
    location = try TusUpload.resolve(fields.first("Location"), from: target)
    let stored = fields.tusNumber("Upload-Offset") ?? 0
    guard stored <= sentEnd else { throw .offsetBeyond(sent: sentEnd, acknowledged: stored) }
    advance(to: stored)
  }

  /// Behind a TLS proxy a Location can begin with http. The upload then is where it was created, by https.
  private static func resolve(_ text: String?, from target: TargetURI) throws(TusError) -> TargetURI {
    guard let text, !text.isEmpty else { throw .noLocation }
    guard let location = try? target.resolving(text) else {
      throw .unusableLocation(PrintableText.line(PrintableText.withoutQuery(text)))
    }
    guard target.scheme == .https, location.scheme == .http else { return location }
    guard location.host == target.host else {
      throw .unusableLocation(PrintableText.line(PrintableText.withoutQuery(text)))
    }
    let moved = location.moved(toOriginOf: target)
    guard moved.text.utf8.count <= Limits.uriLength else {
      throw .unusableLocation(PrintableText.line(PrintableText.withoutQuery(text)))
    }
    return moved
  }

  private mutating func receiveOffset(_ status: Int, _ fields: [Field]) throws(TusError) {
    switch status {
    case 200, 204: break
    case 404, 410:
      state = .gone
      return
    case 423: throw .locked
    default: throw .refused(method: "HEAD", status: status)
    }
    guard let offset = fields.tusNumber("Upload-Offset") else { throw .noOffset(status: status) }
    declaresLength = fields.first("Upload-Defer-Length") == "1"
    // An upload of another length is not this file's.
    if !declaresLength, let stated = fields.tusNumber("Upload-Length"), stated != length {
      state = .gone
      return
    }
    guard offset <= sentEnd else { throw .offsetBeyond(sent: sentEnd, acknowledged: offset) }
    noteReached(offset)
    learn(from: offset)
    advance(to: offset)
  }

  /// Holds the server's offset against what was cut.
  private mutating func learn(from offset: Int64) {
    guard let cut else { return }
    self.cut = nil
    var arrived = cut.arrived
    for stretch in cut.stretches {
      if offset < stretch.end || stretch == cut.stretches.last {
        let kept = min(max(0, offset - stretch.offset), stretch.length)
        return sizing.interrupted(kept: kept, sent: arrived, requestLength: stretch.length)
      }
      arrived = max(0, arrived - stretch.length)
    }
  }

  private mutating func receiveStored(_ status: Int, _ fields: [Field], _ next: Int64) throws(TusError) {
    guard let stretch = underWay.first else { preconditionFailure("an answer to no request") }
    checksum = nil
    switch status {
    case 200, 204: return try confirm(stretch, fields, status, next)
    case 404, 410: return lose(.gone)
    // Another offset than ours: the server's counts.
    case 409: return try locateAgain(status)
    case 413 where sizing.refused(requestLength: stretch.length): return lose(.locating)
    // As with a lost connection, the offset will tell what has been kept of the request.
    case 500...: throw .refused(method: "PATCH", status: status)
    default: break
    }
    // A refusal for another reason says nothing about what becomes of content.
    underWay.removeFirst()
    switch status {
    case 423: throw .locked
    case 460: throw .checksumMismatch(offset: stretch.offset)
    default: throw .refused(method: "PATCH", status: status)
    }
  }

  private mutating func confirm(
    _ stretch: Stretch, _ fields: [Field], _ status: Int, _ next: Int64
  ) throws(TusError) {
    guard let offset = fields.tusNumber("Upload-Offset") else { return try locateAgain(status) }
    guard offset <= stretch.end else { throw .offsetBeyond(sent: stretch.end, acknowledged: offset) }
    guard offset == stretch.end else { return try locateAgain(status) }
    underWay.removeFirst()
    declaresLength = false
    noteReached(offset)
    sizing.stored(stretch.length)
    if hasOverlapped, underWay.isEmpty { sizing.overlapSucceeded() }
    state = offset == length ? .complete : .sending(acknowledged: offset, next: next)
  }

  /// Disagreements count as long as nothing new is stored.
  private mutating func noteReached(_ offset: Int64) {
    guard offset > reached else { return }
    reached = offset
    disagreements = 0
  }

  /// Asks for the offset, unless that has not helped several times.
  private mutating func locateAgain(_ status: Int) throws(TusError) {
    disagreements += 1
    guard disagreements <= Limits.disagreementCount else { throw .refused(method: "PATCH", status: status) }
    lose(.locating)
  }

  private mutating func lose(_ state: State) {
    underWay = []
    self.state = state
  }

  private mutating func advance(to offset: Int64) {
    // A server that has all can still wait to be told the length.
    state = offset == length && !declaresLength ? .complete : .sending(acknowledged: offset, next: offset)
  }

  private func versionMismatch(_ fields: [Field]) -> TusError {
    .versionNotSupported(offered: PrintableText.line(fields.first("Tus-Version") ?? ""))
  }

  // MARK: Interruptions

  /// The connection ended, or the answer was no use, before the requests under way were answered.
  /// - Parameter arrived: how many bytes of their content the other side has acknowledged at least.
  package mutating func interrupted(arrived: Int64) {
    switch state {
    case .creating:
      // Should the server have taken it, it has an upload that expires.
      mayCreateWithUpload = mayCreateWithUpload && arrived == 0
    case .sending:
      if hasOverlapped { sizing.overlapFailed() }
      cut = (underWay, arrived)
      underWay = []
      checksum = nil
      state = .locating
    case .discovering, .locating, .complete, .gone: break
    }
  }

  /// Begins anew, as after ``State/gone``.
  package mutating func restart() {
    location = nil
    expires = nil
    cut = nil
    underWay = []
    reached = 0
    sentEnd = 0
    state = .creating
  }
}
