import Testing
import UploadCore

/// A server that joins parts. `version` is that of the recording, which is 1 until it changes.
protocol PartsServer {
  /// Bytes of the recording.
  static var size: Int64 { get }
  /// Whether it checks what each part contains.
  static var checksParts: Bool { get }

  init(using random: inout SeededGenerator)
  func destination() throws -> Destination
  func modifiedSeconds(of version: Int) -> Int64
  /// What is signed of a part; nil if nothing needs to be read for it.
  func checksum(of version: Int, at offset: Int64) -> String?
  /// What the upload with this URL is called in ``repeated``.
  func name(ofUpload url: String) -> String

  var hasObject: Bool { get }
  /// Whether it has exactly this version of the recording.
  func isWhole(_ version: Int) -> Bool
  /// Whether it shows that its object is this upload's.
  func showsOwner(_ version: Int) -> Bool
  /// Whether the user may not see that.
  var hides: Bool { get }

  /// Somebody else stores something under the name.
  mutating func addRival(using random: inout SeededGenerator)
  /// Something of an upload is lost.
  /// - Returns: false if there is none.
  mutating func lose(using random: inout SeededGenerator) -> Bool
  /// A web page of somebody else.
  func page(for request: HTTPRequest) -> Answer
  mutating func answer(_ request: HTTPRequest, _ version: Int) -> Answer
  /// The part in the last request, if the server had it already.
  var repeated: (upload: String, number: Int)? { get }
}

/// One recording, its record, and the server, with kills, lost responses, lost parts, and a rival.
struct PartsRun<Server: PartsServer> {
  private enum Fate: CaseIterable {
    case fine, fine2, fine3, fine4, fine5, lostBefore, lostAfter, error, errorAfter, page
  }

  private var random: SeededGenerator
  private var server: Server
  private var record = UnfinishedUpload()
  private var now: Int64 = 0
  private let hasRival: Bool
  private let computesDigest: Bool
  /// Whether something goes wrong now.
  private var isHostile = true
  private var version = 1
  private var hasLostSave = false
  /// Whether parts were lost, so that some are sent twice.
  private var mayRepeat = false
  /// The parts that the record has, by upload.
  private var known: [String: Set<Int>] = [:]
  private var complaint: String?
  private var end = ""
  private var log: [String] = []

  private init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    server = Server(using: &random)
    computesDigest = Int.random(in: 0..<3, using: &random) == 0
    hasRival = Int.random(in: 0..<3, using: &random) == 0
  }

  /// Plays a thousand of them, in which a delivered recording is always whole.
  /// - Parameter ends: the outcomes that must be among them, or the seeds are of no use.
  static func play(reaching ends: [String]) throws {
    var found: [String: Int] = [:]
    for seed in 0..<UInt64(1000) {
      var run = PartsRun(seed: seed)
      try run.play()
      if let complaint = run.complaint { Issue.record("seed \(seed): \(complaint)\n\(run.log.suffix(60))") }
      found[run.end, default: 0] += 1
    }
    for name in ends { #expect(found[name] ?? 0 > 5, "\(found)") }
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private mutating func play() throws {
    for process in 0..<12 where end.isEmpty && complaint == nil {
      isHostile = process < 11
      log.append("process")
      try runProcess()
      now += 200_000_000
    }
    if end.isEmpty, complaint == nil { complaint = "no end" }
  }

  private mutating func machine() throws -> UploadMachine {
    if version < 3, isHostile, chance(10) {
      version += 1
      if record.remote != nil { record.doubt = .replaced }
    }
    let token = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    var request = UploadRequest(file: LocalPath("/set.wav"), destination: try server.destination())
    request.computesDigest = computesDigest
    let plan = UploadPlan(
      request, size: Server.size, previous: UploadPlan.PreviousState(record), recordID: "5e1f0a77",
      modifiedSeconds: server.modifiedSeconds(of: version), boundary: Boundary(random: token))
    return try UploadMachine(
      .upload(plan), UploadPolicy(retries: RetryPolicy(.failures(3), maximumDelayMilliseconds: 4000), seed: 7))
  }

  private mutating func runProcess() throws {
    var machine = try machine()
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
      case .hash(let work):
        guard let result = hashed(work) else {
          complaint = "it reads the file without a need"
          return
        }
        if case .range = work { hasRead = true }
        machine.handle(.hashed(result))
      case .save(let change): save(change)
      case .wait(let until): now = max(now, until)
      case .renewCredentials: machine.handle(.credentials(areNew: false))
      case .reportRetry, .reportFallback, .reportOtherFile: break
      case .finished(.delivered(let receipt, let sent, _)): return checkDelivery(receipt, sent)
      case .finished:
        complaint = "finished in another way"
        return
      case .failed(let error):
        log.append("\(error)")
        let length = (0...Server.size).randomElement(using: &random) ?? 0
        let sent =
          computesDigest && hasRead && length > 0 ? SentPart(length: length, sha256: "\(version) \(length)") : nil
        record.apply(machine.end(with: error, LocalFacts(sent: sent))) { _ in nil }
        return checkFailure(error)
      }
    }
    complaint = "an endless loop"
  }

  private mutating func hashed(_ work: HashRange) -> HashResult? {
    switch work {
    case .range(_, let offset, _): server.checksum(of: version, at: offset).map { .range(checksum: $0) }
    case .beginning(let length):
      .beginning(sha256: "\(version) \(length)", isStable: !isHostile || !chance(9))
    case .wholeFile where computesDigest: .wholeFile(sha256: "\(version) \(Server.size)")
    default: nil
    }
  }

  private mutating func save(_ change: RecordChange) {
    log.append("save \(change)".prefix(60).description)
    if case .parts = change, isHostile, chance(30) {
      hasLostSave = true
    } else {
      record.apply(change, size: Server.size)
    }
    guard let url = record.remote?.url, let parts = record.parts else { return }
    known[server.name(ofUpload: url)] = Set(parts.tags.indices.filter { !parts.tags[$0].isEmpty }.map { $0 + 1 })
  }

  // MARK: The outcome

  private mutating func checkDelivery(_ receipt: Receipt, _ sent: SentFile) {
    end = "delivered"
    if (sent.sha256 != nil) != computesDigest { complaint = "a digest that nobody wants, or none" }
    if receipt.isChecksumVerified, !computesDigest, !Server.checksParts { complaint = "verified without a digest" }
    if !server.isWhole(version) { complaint = "delivered: \(server), version \(version)" }
  }

  private mutating func checkFailure(_ error: UploadError) {
    switch error {
    case .objectExists:
      // Without the record's list, nothing shows that the object is this upload's.
      if server.showsOwner(version), !hasLostSave, version == 1 { complaint = "its own object: \(server)" }
      if server.hasObject { end = "objectExists" }
    case .unconfirmed: if server.hides { end = "unconfirmed" }
    default: break
    }
    if !isHostile, end.isEmpty { complaint = "failed without a reason: \(error)" }
  }

  // MARK: The network

  private mutating func answer(_ request: HTTPRequest) -> UploadEvent {
    if isHostile, hasRival, !server.hasObject, chance(20) { server.addRival(using: &random) }
    if isHostile, chance(40), server.lose(using: &random) { mayRepeat = true }
    let fate = isHostile ? Fate.allCases.randomElement(using: &random) ?? .fine : .fine
    log.append("\(request.method) \(request.target.requestTarget) \(fate)")
    let lost = UploadEvent.interrupted(
      Interruption(.connectionLost(.awaitingConfirmation, peer: "hive", nil), sent: .whole))
    switch fate {
    case .lostBefore: return lost
    case .error: return .answered(Answer(status: 503))
    case .page: return .answered(server.page(for: request))
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
    let answer = server.answer(request, version)
    log.append("  \(answer.status) \(String(decoding: answer.content, as: UTF8.self).prefix(80))")
    if let (upload, number) = server.repeated, known[upload]?.contains(number) ?? false, !mayRepeat, !hasLostSave {
      complaint = "part \(number) is sent twice"
    }
    return answer
  }
}
