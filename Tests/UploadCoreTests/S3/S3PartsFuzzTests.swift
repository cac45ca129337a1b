import Testing
import UploadCore

/// Multipart uploads with kills, lost responses, lost parts and a rival, against servers of several kinds.
struct S3PartsFuzzTests {
  @Test func aDeliveredRecordingIsWhole() throws {
    var ends: [String: Int] = [:]
    for seed in 0..<UInt64(1000) {
      var run = try S3PartsRun(seed: seed)
      try run.play()
      if let complaint = run.complaint { Issue.record("seed \(seed): \(complaint)\n\(run.log.suffix(60))") }
      ends[run.end, default: 0] += 1
    }
    // The seeds are useful only if they reach every outcome.
    for name in ["delivered", "objectExists", "unconfirmed"] { #expect(ends[name] ?? 0 > 5, "\(ends)") }
  }
}

/// One recording, its record, and the server.
private struct S3PartsRun {
  private struct Upload {
    let token: String
    /// What was signed, by number.
    var parts: [Int: (digest: String, size: Int64)] = [:]
    /// What the record has.
    var known: Set<Int> = []
  }

  private struct Object: Equatable {
    let token: String?
    /// What was signed of its parts.
    let digests: [String]
    let size: Int64
  }

  private enum Fate: CaseIterable {
    case fine, fine2, fine3, fine4, fine5, lostBefore, lostAfter, error, errorAfter, page
  }

  private let size: Int64 = 20 << 20
  private var random: SeededGenerator
  private var record: UnfinishedUpload
  private var now: Int64 = 0
  // The server.
  private var object: Object?
  private var uploads: [String: Upload] = [:]
  private var count = 0
  private let forbidsLooking: Bool
  private let forbidsLists: Bool
  private let wantsEveryPart: Bool
  private let keepsMetadata: Bool
  private let hasRival: Bool
  private let computesDigest: Bool
  /// Whether something goes wrong now.
  private var isHostile = true
  /// The version of the file.
  private var version = 1
  private var hasLostSave = false
  /// Whether parts were listed again because they could not be joined, or some were lost.
  private var mayRepeat = false
  private(set) var complaint: String?
  private(set) var end = ""
  private(set) var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    record = UnfinishedUpload()
    forbidsLooking = Int.random(in: 0..<8, using: &random) == 0
    forbidsLists = Int.random(in: 0..<6, using: &random) == 0
    wantsEveryPart = Bool.random(using: &random)
    keepsMetadata = Int.random(in: 0..<8, using: &random) != 0
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

  private mutating func runProcess() throws {
    if version < 3, isHostile, chance(10) {
      version += 1
      if record.remote != nil { record.doubt = .replaced }
    }
    let previous = UploadPlan.PreviousState(record)
    let object = S3Object(url: try TargetURI("https://hive/bucket/set.wav"), region: "us-east-1")
    let token = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    var upload = UploadRequest(file: LocalPath("/set.wav"), destination: .s3(object))
    upload.computesDigest = computesDigest
    let plan = UploadPlan(
      upload, size: size, previous: previous, recordID: "5e1f0a77", boundary: Boundary(random: token))
    var machine = try UploadMachine(
      .upload(plan), UploadPolicy(retries: RetryPolicy(.failures(3), maximumDelayMilliseconds: 4000), seed: 7))
    var request: HTTPRequest?
    // What is read for a part is what the digest has.
    var hasRead = false
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
      case .hash(.range(_, let offset, _)):
        hasRead = true
        machine.handle(.hashed(.range(checksum: Base64.encode([UInt8(version), UInt8(offset >> 23)]))))
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
      case .finished(.delivered(_, let sent, _)):
        if (sent.sha256 != nil) != computesDigest { complaint = "a digest that nobody wants, or none" }
        return checkDelivery()
      case .finished:
        complaint = "finished in another way"
        return
      case .failed(let error):
        log.append("\(error)")
        let length = (0...size).randomElement(using: &random) ?? 0
        let sent =
          computesDigest && hasRead && length > 0 ? SentPart(length: length, sha256: "\(version) \(length)") : nil
        record.apply(machine.end(with: error, LocalFacts(sent: sent))) { _ in nil }
        return checkFailure(error)
      }
    }
    complaint = "an endless loop"
  }

  /// What its record has need not be sent again.
  private mutating func noteKnown() {
    guard let id = record.remote?.url.split(separator: "=").last.map(String.init), let parts = record.parts else {
      return
    }
    uploads[id]?.known = Set(parts.tags.indices.filter { !parts.tags[$0].isEmpty }.map { $0 + 1 })
  }

  // MARK: The outcome

  private mutating func checkDelivery() {
    end = "delivered"
    if object?.digests != (0..<3).map({ ASCII.hex([UInt8(version), UInt8($0)]) }) {
      complaint = "delivered: \(String(describing: object)), version \(version)"
    }
  }

  private mutating func checkFailure(_ error: UploadError) {
    switch error {
    case .objectExists:
      // Without the record's list, nothing shows that the object is this upload's.
      if let object, object.token != nil, !hasLostSave, version == 1, keepsMetadata {
        complaint = "its own object: \(object)"
      }
      if object != nil { end = "objectExists" }
    case .unconfirmed:
      if forbidsLooking || !keepsMetadata { end = "unconfirmed" }
    default: break
    }
    if !isHostile, end.isEmpty { complaint = "failed without a reason: \(error)" }
  }

  // MARK: The server

  private mutating func answer(_ request: HTTPRequest) -> UploadEvent {
    if isHostile, hasRival, object == nil, chance(20) { object = Object(token: nil, digests: [], size: 7) }
    if isHostile, chance(40), let id = uploads.keys.sorted().first {
      if chance(2) { uploads[id] = nil } else { uploads[id]?.parts[1] = nil }
      mayRepeat = true
    }
    let fate = isHostile ? Fate.allCases.randomElement(using: &random) ?? .fine : .fine
    log.append("\(request.method) \(request.target.requestTarget) \(fate)")
    let lost = UploadEvent.interrupted(
      Interruption(.connectionLost(.awaitingConfirmation, peer: "hive", nil), sent: .whole))
    switch fate {
    case .lostBefore: return lost
    case .error: return .answered(Answer(status: 503))
    case .page: return .answered(Answer(status: 200, content: Array("<html><body>Log in</body></html>".utf8)))
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

  private mutating func served(_ request: HTTPRequest) -> Answer {
    let query = request.target.requestTarget.split(separator: "?").last.map(String.init) ?? ""
    let pairs = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    func value(_ name: String) -> String? { pairs.first { $0[0] == name }?.last }
    if request.method == "HEAD" { return look() }
    if query == "uploads=" {
      count += 1
      let token = request.fields.first("x-amz-meta-gighive-upload") ?? ""
      uploads["\(count)"] = Upload(token: token)
      return Answer(status: 200, content: xml("InitiateMultipartUploadResult", "<UploadId>\(count)</UploadId>"))
    }
    guard let id = value("uploadId"), let upload = uploads[id] else {
      return Answer(status: 404, content: xml("Error", "<Code>NoSuchUpload</Code>"))
    }
    switch request.method {
    case "PUT": return put(request, Int(value("partNumber") ?? "") ?? 0, id)
    case "GET":
      if forbidsLists { return Answer(status: 403, content: xml("Error", "<Code>AccessDenied</Code>")) }
      let parts = upload.parts.sorted { $0.key < $1.key }.map {
        "<Part><PartNumber>\($0.key)</PartNumber><ETag>\"\($0.value.digest)\"</ETag><Size>\($0.value.size)</Size></Part>"
      }
      return Answer(status: 200, content: xml("ListPartsResult", parts.joined()))
    case "DELETE":
      uploads[id] = nil
      return Answer(status: 204)
    default: return join(request, id)
    }
  }

  private func look() -> Answer {
    if forbidsLooking { return Answer(status: 403) }
    guard let object else { return Answer(status: 404) }
    var fields = [Field("Content-Length", String(object.size)), Field("ETag", "1-3")]
    if keepsMetadata, let token = object.token { fields.append(Field("x-amz-meta-gighive-upload", token)) }
    return Answer(status: 200, fields: fields)
  }

  private mutating func put(_ request: HTTPRequest, _ number: Int, _ id: String) -> Answer {
    let digest = request.signing?.contentSHA256 ?? ""
    if uploads[id]?.known.contains(number) == true, uploads[id]?.parts[number]?.digest == digest, !mayRepeat,
      !hasLostSave
    {
      complaint = "part \(number) is sent twice"
    }
    uploads[id]?.parts[number] = (digest, request.body?.fileLength ?? 0)
    return Answer(status: 200, fields: [Field("ETag", "\"" + digest + "\"")])
  }

  private mutating func join(_ request: HTTPRequest, _ id: String) -> Answer {
    guard let upload = uploads[id] else { return Answer(status: 404) }
    if object != nil { return Answer(status: 412, content: xml("Error", "<Code>PreconditionFailed</Code>")) }
    let list = String(decoding: request.body?.header ?? [], as: UTF8.self)
    let named = list.matches(of: /<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"/).map { (Int($0.1) ?? 0, String($0.2)) }
    let isRight = named.allSatisfy { upload.parts[$0.0]?.digest == $0.1 }
    guard isRight, !wantsEveryPart || named.count == upload.parts.count else {
      return Answer(status: 400, content: xml("Error", "<Code>InvalidPart</Code>"))
    }
    object = Object(
      token: upload.token, digests: named.map { $0.1 }, size: named.reduce(0) { $0 + (upload.parts[$1.0]?.size ?? 0) })
    uploads[id] = nil
    return Answer(status: 200, content: xml("CompleteMultipartUploadResult", "<ETag>1-3</ETag>"))
  }

  private func xml(_ root: String, _ content: String) -> [UInt8] { Array("<\(root)>\(content)</\(root)>".utf8) }
}
