/// One part of a recording that is sent over a connection of its own, beside the upload that lends it (``UploadMachine/lendPart()``).
package struct LentPart: Sendable {
  package struct ID: Equatable, Sendable {
    /// From 1.
    package let number: Int
    /// How many uploads of the recording had been begun before. The part of another one is of no use.
    let attempt: Int
  }

  package let id: ID
  /// The URL of the upload that it belongs to.
  let upload: TargetURI
  /// In the file, in bytes.
  package let offset: Int64
  package let length: Int64
  let dialect: PartsDialect
  let file: LocalPath
  /// The server's address.
  let base: TargetURI
}

/// Sends one part of a recording, and decides nothing else: what goes wrong ends it, and the upload sends the part itself, with all that it
/// knows about failures.
///
///     hashing ──▶ putting ──▶ taken
struct PartTask: Sendable {
  private enum State: Sendable {
    case hashing
    case putting(sha256: String)
    case taken(tag: String)
  }

  private let part: LentPart
  private var dialect: PartsDialect
  private var state: State

  init(_ part: LentPart) {
    self.part = part
    dialect = part.dialect
    state = dialect.checksParts ? .hashing : .putting(sha256: "")
  }

  func next() -> TaskStep {
    switch state {
    case .hashing: .hash(.range(.sha256, offset: part.offset, length: part.length))
    case .putting(let sha256):
      .ask(
        dialect.part(
          part.id.number, of: part.upload, content: RequestBody(fileOffset: part.offset, fileLength: part.length),
          sha256: sha256))
    case .taken(let tag): .finished(.partTaken(tag: tag))
    }
  }

  mutating func hashed(_ result: HashResult) {
    guard case (.hashing, .range(let checksum)) = (state, result) else { return }
    state = .putting(sha256: ASCII.hex(Base64.decode(checksum.utf8) ?? []))
  }

  func isPortals(_ answer: Answer) -> Bool { dialect.isPortals(answer) }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    if dialect.learn(from: answer) { return }
    guard case .taken(let tag) = try dialect.taken(answer) else { throw .uploadLost }
    state = .taken(tag: tag)
  }
}
