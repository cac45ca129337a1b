/// One part of a recording that is sent over a connection of its own, beside the upload that lends it (``UploadMachine/lendPart()``).
package struct LentPart: Sendable {
  package struct ID: Equatable, Sendable {
    /// From 1.
    package let number: Int
    /// How many uploads of the recording had been begun before. The part of another one is of no use.
    let attempt: Int
  }

  /// What has become of it. Each tag is what the server calls it, and the SHA-256, in lower-case hexadecimal digits, is that of the whole
  /// part as it was read; empty if the server needs none.
  package enum Progress: Equatable, Sendable {
    /// The server has at most a beginning of it.
    case begun(tag: String, sha256: String)
    case taken(tag: String, sha256: String)
    /// Nobody sends it any more.
    case failed

    package var isEnd: Bool { if case .begun = self { false } else { true } }
  }

  enum Way: Sendable {
    /// - Parameter upload: what it is a part of.
    case request(PartsDialect, upload: TargetURI)
    /// As an upload of its own on a tus server.
    case tus(TusUpload)
  }

  package let id: ID
  /// In the file, in bytes.
  package let offset: Int64
  package let length: Int64
  let way: Way
  let file: LocalPath
  /// The server's address.
  let base: TargetURI
  /// The server's.
  var cookies = Cookies()
}

/// Sends one part of a recording, and decides nothing else: what goes wrong ends it, and the upload sends the part itself, with all that it
/// knows about failures.
///
///     hashing ──▶ sending ──▶ taken
final class PartTask: UploadTask {
  private enum State: Sendable {
    case hashing
    case sending
    case taken(tag: String)
  }

  private let part: LentPart
  private var way: LentPart.Way
  private var state: State
  private var sha256 = ""

  override var sendsParts: Bool { true }

  init(_ part: LentPart) {
    self.part = part
    way = part.way
    state = if case .request(let dialect, _) = way, !dialect.checksParts { .sending } else { .hashing }
  }

  /// The part as far as it is on the server; nil before that.
  override var progressOfPart: LentPart.Progress? {
    switch (state, way) {
    case (.taken(let tag), _): .taken(tag: tag, sha256: sha256)
    // The record could not keep a longer name.
    case (_, .tus(let upload)):
      upload.tag.flatMap { UploadedParts.isTag($0, isPath: true) ? .begun(tag: $0, sha256: sha256) : nil }
    case (_, .request): nil
    }
  }

  /// How much the server has of it, in bytes.
  override var deliveredInParts: Int64? { if case .tus(let upload) = way { upload.progress } else { 0 } }

  /// The upload that has lent it compares it.
  override var comparesParts: Bool { true }

  override func next() throws(UploadError) -> TaskStep {
    switch (state, way) {
    case (.hashing, _): return .hash(.range(.sha256, offset: part.offset, length: part.length))
    case (.sending, .request(let dialect, let upload)):
      let content = RequestBody(fileOffset: part.offset, fileLength: part.length)
      return .ask(dialect.part(part.id.number, of: upload, content: content, sha256: sha256))
    case (.sending, .tus(var upload)):
      defer { way = .tus(upload) }
      return try upload.nextOfPart()
    case (.taken, _): return .finished(.partTaken)
    }
  }

  override func hashed(_ result: HashResult) {
    guard case .range(let digest, _) = result else { return }
    switch (state, way) {
    case (.hashing, _): (sha256, state) = (ASCII.hex(digest), .sending)
    case (.sending, .tus(var upload)):
      upload.setChecksum(ofNextPatch: digest)
      way = .tus(upload)
    case (.sending, .request), (.taken, _): break
    }
  }

  override func isPortals(_ answer: Answer) -> Bool {
    if case .request(let dialect, _) = way { dialect.isPortals(answer) } else { false }
  }

  override func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch way {
    case .request(var dialect, let upload):
      let isToBeRepeated = dialect.learn(from: answer)
      way = .request(dialect, upload: upload)
      if isToBeRepeated { return }
      guard case .taken(let tag) = try dialect.taken(answer) else { throw .uploadLost }
      state = .taken(tag: tag)
    case .tus(var upload):
      do throws(TusError) {
        defer { way = .tus(upload) }
        try upload.receive(answer, from: target)
      } catch { throw .tus(error) }
      if case .gone = upload.state { throw .uploadLost }
      guard case .complete = upload.state else { return }
      guard let tag = upload.tag, UploadedParts.isTag(tag, isPath: true) else { throw .uploadLost }
      state = .taken(tag: tag)
    }
  }

  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    if case .tus(var upload) = way {
      upload.interrupted(interruption)
      way = .tus(upload)
    }
    return .allowed
  }
}

extension TusUpload {
  mutating func nextOfPart() throws(UploadError) -> TaskStep {
    switch next() {
    case .ask(let request): .ask(request)
    case .checksumOfNextPatch(let algorithm, let offset, let length):
      .hash(.range(algorithm, offset: offset, length: length))
    case .await: .await
    case .complete, .gone: throw .internalError("a part that has ended")
    }
  }

  /// - Parameter target: the URI that answered.
  mutating func receive(_ answer: Answer, from target: TargetURI) throws(TusError) {
    try receive(
      status: answer.status, fields: answer.fields, from: target, sent: answer.sent,
      afterMilliseconds: answer.afterMilliseconds)
  }

  mutating func interrupted(_ interruption: Interruption) {
    interrupted(
      arrived: interruption.arrived, sent: interruption.sent,
      cutAfterMilliseconds: interruption.cutAfterMilliseconds,
      isUnreachable: interruption.error.traits.isUnreachable, isUnknown: interruption.error.isUnknownHost)
  }

  /// What it is called in the list of all parts: a path fits better into the field with all of them. nil before it is created.
  var tag: String? { location.map { $0.origin == plan.endpoint.origin ? $0.requestTarget : $0.text } }
}
