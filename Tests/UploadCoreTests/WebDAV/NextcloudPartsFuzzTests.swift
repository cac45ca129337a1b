import Testing
import UploadCore

/// Chunked uploads with kills, lost responses, lost chunks, lost metadata and a rival, against both kinds of Nextcloud.
struct NextcloudPartsFuzzTests {
  @Test func whatIsDeliveredIsWhole() throws {
    var ends: [String: Int] = [:]
    for seed in 0..<UInt64(1000) {
      var run = try NextcloudRun(seed: seed)
      try run.play()
      if let complaint = run.complaint { Issue.record("seed \(seed): \(complaint)\n\(run.log.suffix(60))") }
      ends[run.end, default: 0] += 1
    }
    // The seeds are useful only if they reach every outcome.
    for name in ["delivered", "objectExists"] { #expect(ends[name] ?? 0 > 5, "\(ends)") }
  }
}

/// One recording, its record, and the server.
private struct NextcloudRun {
  private struct Chunk: Equatable {
    let version: Int
    let offset: Int64
    let length: Int64
  }

  private struct Upload {
    var chunks: [Int: Chunk] = [:]
    /// Whether the server has forgotten what only its cache knew.
    var hasNoMetadata = false
    /// What the record has.
    var known: Set<Int> = []
  }

  private struct File: Equatable {
    let chunks: [Chunk]
    let modified: Int64
    var size: Int64 { chunks.reduce(0) { $0 + $1.length } }
  }

  private enum Fate: CaseIterable {
    case fine, fine2, fine3, fine4, fine5, lostBefore, lostAfter, error, errorAfter, page
  }

  private let size: Int64 = 40 << 20
  private var random: SeededGenerator
  private var record = UnfinishedUpload()
  private var now: Int64 = 0
  private var file: File?
  private var uploads: [String: Upload] = [:]
  private let isOnStore: Bool
  private let hashes: Bool
  private let hasRival: Bool
  private let computesDigest: Bool
  private let hasTime: Bool
  /// Whether something goes wrong now.
  private var isHostile = true
  /// The version of the recording.
  private var version = 1
  private var hasLostSave = false
  /// Whether chunks were lost, so that some are sent twice.
  private var mayRepeat = false
  private(set) var complaint: String?
  private(set) var end = ""
  private(set) var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    isOnStore = Bool.random(using: &random)
    hashes = Bool.random(using: &random)
    hasTime = Int.random(in: 0..<4, using: &random) > 0
    computesDigest = Int.random(in: 0..<3, using: &random) == 0
    hasRival = Int.random(in: 0..<3, using: &random) == 0
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func play() throws {
    for process in 0..<12 where end.isEmpty && complaint == nil {
      isHostile = process < 11
      log.append("process")
      try runProcess()
      now += 200_000_000
    }
    if end.isEmpty, complaint == nil { complaint = "no end" }
  }

  private var modified: Int64 { hasTime ? 1_700_000_000 + Int64(version) : 0 }

  private mutating func machine() throws -> UploadMachine {
    if version < 3, isHostile, chance(10) {
      version += 1
      if record.remote != nil { record.doubt = .replaced }
    }
    let token = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    let target = try TargetURI("https://hive/remote.php/dav/files/ann/a/set.wav")
    var request = UploadRequest(file: LocalPath("/set.wav"), destination: .webDAV(target))
    request.computesDigest = computesDigest
    let plan = UploadPlan(
      request, size: size, previous: UploadPlan.PreviousState(record), recordID: "5e1f0a77",
      modifiedSeconds: modified, boundary: Boundary(random: token))
    return try UploadMachine(
      .upload(plan), UploadPolicy(retries: RetryPolicy(.failures(3), maximumDelayMilliseconds: 4000), seed: 7))
  }

  private mutating func runProcess() throws {
    var machine = try machine()
    var request: HTTPRequest?
    for _ in 0..<2000 {
      // A kill.
      if isHostile, chance(25) { return }
      switch machine.next(nowMilliseconds: now, unixSeconds: now / 1000) {
      case .send(let next, _): request = next
      case .await:
        guard let sent = request else {
          complaint = "it waits for nothing"
          return
        }
        request = nil
        machine.handle(answer(sent))
      case .hash(.beginning(let length)):
        machine.handle(.hashed(.beginning(sha256: "\(version) \(length)", isStable: !isHostile || !chance(9))))
      case .hash(.wholeFile) where computesDigest: machine.handle(.hashed(.wholeFile(sha256: "\(version) \(size)")))
      case .hash:
        complaint = "it reads the file without a need"
        return
      case .save(let change):
        log.append("save \(change)".prefix(60).description)
        if case .parts = change, isHostile, chance(30) { hasLostSave = true } else { record.apply(change, size: size) }
        noteKnown()
      case .wait(let until): now = max(now, until)
      case .renewCredentials: machine.handle(.credentials(areNew: false))
      case .reportRetry, .reportFallback, .reportOtherFile: break
      case .finished(.delivered(let receipt, let sent, _)):
        if (sent.sha256 != nil) != computesDigest { complaint = "a digest that nobody wants, or none" }
        if receipt.isChecksumVerified, !computesDigest { complaint = "verified without a digest" }
        return checkDelivery()
      case .finished:
        complaint = "finished in another way"
        return
      case .failed(let error):
        log.append("\(error)")
        record.apply(machine.end(with: error, LocalFacts())) { _ in nil }
        return checkFailure(error)
      }
    }
    complaint = "an endless loop"
  }

  /// What its record has need not be sent again.
  private mutating func noteKnown() {
    guard let name = record.remote?.url.split(separator: "/").last.map(String.init), let parts = record.parts else {
      return
    }
    uploads[name]?.known = Set(parts.tags.indices.filter { !parts.tags[$0].isEmpty }.map { $0 + 1 })
  }

  // MARK: The outcome

  private mutating func checkDelivery() {
    end = "delivered"
    let step: Int64 = 16 << 20
    let whole = (0..<3).map { Chunk(version: version, offset: $0 * step, length: min(step, size - $0 * step)) }
    if file?.chunks != whole { complaint = "delivered: \(String(describing: file)), version \(version)" }
  }

  private mutating func checkFailure(_ error: UploadError) {
    if case .objectExists = error {
      // Without the record's list, nothing shows that the file is this upload's.
      let isOwn = file.map { $0.chunks.count == 3 && $0.chunks.allSatisfy { $0.version == version } } ?? false
      if isOwn, !hasLostSave, version == 1 { complaint = "its own file" }
      if file != nil { end = "objectExists" }
    }
    if !isHostile, end.isEmpty { complaint = "failed without a reason: \(error)" }
  }

  // MARK: The server

  private mutating func answer(_ request: HTTPRequest) -> UploadEvent {
    if isHostile, hasRival, file == nil, chance(20) {
      file = File(chunks: [Chunk(version: 0, offset: 0, length: chance(2) ? 7 : size)], modified: 7)
    }
    if isHostile, chance(40), let name = uploads.keys.sorted().first {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: uploads[name] = nil
      case 1: uploads[name]?.chunks[1] = nil
      default:
        if isOnStore {
          uploads[name]?.hasNoMetadata = true
          uploads[name]?.chunks = [:]
        }
      }
      mayRepeat = true
    }
    let fate = isHostile ? Fate.allCases.randomElement(using: &random) ?? .fine : .fine
    log.append("\(request.method) \(request.target.requestTarget) \(fate)")
    let lost = UploadEvent.interrupted(
      Interruption(.connectionLost(.awaitingConfirmation, peer: "hive", nil), sent: .whole))
    switch fate {
    case .lostBefore: return lost
    case .error: return .answered(Answer(status: 503))
    // That would be a server without chunks.
    case .page where request.target.requestTarget.contains("/files/") || request.method == "MKCOL":
      return .answered(Answer(status: 503))
    case .page: return .answered(Answer(status: 404, content: Array("<html><body>Who?</body></html>".utf8)))
    case .lostAfter:
      _ = serve(request)
      return lost
    case .errorAfter:
      _ = serve(request)
      return .answered(Answer(status: 500))
    case .fine, .fine2, .fine3, .fine4, .fine5: return .answered(serve(request))
    }
  }

  private mutating func serve(_ request: HTTPRequest) -> Answer {
    let answer = served(request)
    log.append("  \(answer.status) \(String(decoding: answer.content, as: UTF8.self).prefix(80))")
    return answer
  }

  private func refusal(_ status: Int, _ message: String = "x") -> Answer {
    let text = "<error><exception>Sabre</exception><message>\(message)</message></error>"
    return Answer(status: status, content: Array(text.utf8))
  }

  private mutating func served(_ request: HTTPRequest) -> Answer {
    let path = request.target.requestTarget.split(separator: "/").map(String.init)
    guard path[2] == "uploads" else { return servedFile(request) }
    let name = path[4]
    if request.method == "MKCOL" {
      guard uploads[name] == nil else { return refusal(405, "The resource you tried to create already exists") }
      uploads[name] = Upload()
      return Answer(status: 201)
    }
    guard let upload = uploads[name] else { return refusal(404) }
    switch request.method {
    case "PUT": return put(request, Int(path[5]) ?? 0, name)
    case "PROPFIND":
      let entries = upload.chunks.sorted { $0.key > $1.key }.map { entry("u/\($0.key)", $0.value.length) }
      return Answer(status: 207, content: list([entry("u/.file", 7)] + entries))
    case "DELETE":
      uploads[name] = nil
      return Answer(status: 204)
    default: return join(upload, name, Int64(request.fields.first("X-OC-MTime") ?? "") ?? 7)
    }
  }

  private func entry(_ name: String, _ size: Int64, _ modified: Int64 = 7) -> String {
    let isKnown = modified >= 1_700_000_000
    let date =
      isKnown
      ? "Tue, 14 Nov 2023 22:13:\(20 + modified - 1_700_000_000) GMT" : "Thu, 01 Jan 1970 00:00:0\(modified) GMT"
    return "<response><href>/\(name)</href><propstat><prop><getcontentlength>\(size)</getcontentlength>"
      + "<getlastmodified>\(date)</getlastmodified></prop></propstat></response>"
  }

  private func list(_ entries: [String]) -> [UInt8] { Array("<multistatus>\(entries.joined())</multistatus>".utf8) }

  private func servedFile(_ request: HTTPRequest) -> Answer {
    if request.method == "MKCOL" { return refusal(405, "The resource you tried to create already exists") }
    guard let file else { return refusal(404) }
    if request.method == "PROPFIND" {
      return Answer(status: 207, content: list([entry("set.wav", file.size, file.modified)]))
    }
    guard hashes else { return refusal(501) }
    return Answer(status: 204, fields: [Field("OC-Checksum", "SHA256:" + digest(of: file.chunks))])
  }

  private func digest(of chunks: [Chunk]) -> String {
    let version = chunks.first?.version ?? 0
    return chunks.allSatisfy { $0.version == version } ? "\(version) \(chunks.reduce(0) { $0 + $1.length })" : "mixed"
  }

  private mutating func put(_ request: HTTPRequest, _ number: Int, _ name: String) -> Answer {
    if uploads[name]?.hasNoMetadata == true { return refusal(412, "Missing metadata for chunked upload.") }
    let chunk = Chunk(version: version, offset: request.fileOffset, length: request.body?.fileLength ?? 0)
    if uploads[name]?.known.contains(number) == true, uploads[name]?.chunks[number] == chunk, !mayRepeat, !hasLostSave {
      complaint = "chunk \(number) is sent twice"
    }
    uploads[name]?.chunks[number] = chunk
    return Answer(status: isOnStore ? 200 : 201)
  }

  private mutating func join(_ upload: Upload, _ name: String, _ modified: Int64) -> Answer {
    if file != nil { return refusal(412) }
    let chunks = upload.chunks.sorted { $0.key < $1.key }.map(\.value)
    if !isOnStore || upload.hasNoMetadata, chunks.reduce(0, { $0 + $1.length }) != size {
      return refusal(400, "Chunks on server do not sum up")
    }
    // On an object store, without a word about what is missing.
    file = File(chunks: chunks, modified: modified)
    uploads[name] = nil
    let hash = Field("X-Hash-SHA256", digest(of: chunks))
    return Answer(status: 201, fields: isOnStore ? [] : [hash])
  }
}
