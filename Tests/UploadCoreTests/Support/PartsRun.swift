import Foundation
import Testing
import UploadCore

/// The versions of a recording's ranges of 8 MiB, which are 1 until they change.
typealias Versions = [Int]

/// A server that joins parts.
protocol PartsServer {
  /// Bytes of the recording.
  static var size: Int64 { get }
  /// Whether it checks what each part contains.
  static var checksParts: Bool { get }

  /// Whether it gets finished recordings in parts only over several connections.
  static var needsConnections: Bool { get }
  /// Whether a digest is always computed for it.
  static var alwaysComputesDigest: Bool { get }

  init(using random: inout SeededGenerator)
  func destination() throws -> Destination
  func modifiedSeconds(of versions: Versions) -> Int64
  /// What the upload with this URL is called in ``repeated``.
  func name(ofUpload url: String) -> String

  var hasObject: Bool { get }
  /// Whether it has exactly these versions of the recording's ranges.
  func isWhole(_ versions: Versions) -> Bool
  /// Whether it shows that its object is this upload's.
  func showsOwner(_ versions: Versions) -> Bool
  /// Whether the user may not see that.
  var hides: Bool { get }

  /// Somebody else stores something under the name.
  mutating func addRival(using random: inout SeededGenerator)
  /// Something of an upload is lost.
  /// - Returns: false if there is none.
  mutating func lose(using random: inout SeededGenerator) -> Bool
  /// A web page of somebody else.
  func page(for request: HTTPRequest) -> Answer
  mutating func answer(_ request: HTTPRequest, _ versions: Versions) -> Answer
  /// The part in the last request, if the server had it already.
  var repeated: (upload: String, number: Int)? { get }
}

extension PartsServer {
  static var needsConnections: Bool { false }
  static var alwaysComputesDigest: Bool { false }
  static var rangeLength: Int64 { 8 << 20 }

  /// Those of a part.
  static func versions(_ versions: Versions, at offset: Int64, _ length: Int64) -> Versions {
    Array(versions[Int(offset / rangeLength)...Int((offset + length - 1) / rangeLength)])
  }

  /// Stands for the SHA-256 of a part.
  static func digest(_ all: Versions, at offset: Int64, _ length: Int64) -> [UInt8] {
    [UInt8(offset / rangeLength)] + versions(all, at: offset, length).map { UInt8($0) }
  }

  /// Stands for the SHA-256 of a beginning of the file.
  static func digest(_ versions: Versions, _ length: Int64) -> String { "\(versions) \(length)" }
}

/// One recording, its record, and the server, with kills, lost responses, lost parts, and a rival. Half of the recordings are sent while they
/// are made, and their recorder writes parts again.
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
  /// The parts that other connections send.
  private var lent: [(part: LentPart, machine: UploadMachine, request: HTTPRequest?)] = []
  private var versions = Versions(repeating: 1, count: Int((Server.size - 1) / Server.rangeLength) + 1)
  /// Whether the recording has changed when it should not.
  private var hasChanged = false
  /// How often somebody has changed it in place, and restored its modification time: its status time.
  private var status = StatusTime(seconds: 0, nanoseconds: 0)
  /// That when this process began.
  private var openedAt = StatusTime(seconds: 0, nanoseconds: 0)
  private var hasNewStatus: Bool { status != openedAt }
  private var statusChange: StatusTime? { hasNewStatus ? status : nil }
  /// What was hashed while something else was sent, and perhaps changed since.
  private var ahead: (range: HashRange, result: HashResult)?
  private var hasUsedAhead = false
  /// Whether an upload was left for parts.
  private var hasLeft = false
  /// Whether it is sent while it is made.
  private let isRecorded: Bool
  /// Whether its beginning looks as if its recorder only appended to it.
  private let isAppended: Bool
  private let connections: ConnectionLimit
  /// How much the recorder has written, in bytes; nil once it has ended.
  private var written: Int64?
  /// What was read to be sent while it was written: the versions of its ranges, which are 0 for more than one.
  private var run: (offset: Int64, end: Int64, versions: Versions)?
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
    computesDigest = Int.random(in: 0..<3, using: &random) == 0 || Server.alwaysComputesDigest
    hasRival = Int.random(in: 0..<3, using: &random) == 0
    isRecorded = Bool.random(using: &random)
    isAppended = Bool.random(using: &random)
    let several: ConnectionLimit = Bool.random(using: &random) ? .count(4) : .automatic
    connections = isRecorded && Bool.random(using: &random) ? .count(1) : several
    if isRecorded { written = 1 }
  }

  /// Plays four hundred of them, or as many as PARTS_SEEDS says, in which a delivered recording is always whole.
  /// - Parameter ends: the outcomes that must be among them, or the seeds are of no use.
  static func play(reaching ends: [String]) throws {
    var found: [String: Int] = [:]
    let count = ProcessInfo.processInfo.environment["PARTS_SEEDS"].flatMap { UInt64($0) } ?? 400
    let first = ProcessInfo.processInfo.environment["PARTS_FIRST"].flatMap { UInt64($0) } ?? 0
    for seed in first..<first + count {
      var run = PartsRun(seed: seed)
      try run.play()
      if let complaint = run.complaint { Issue.record("seed \(seed): \(complaint)\n\(run.log.suffix(60))") }
      found[run.end, default: 0] += 1
      if run.hasUsedAhead { found["ahead", default: 0] += 1 }
      if run.hasLeft { found["left", default: 0] += 1 }
    }
    for name in ends { #expect(found[name] ?? 0 > 5, "\(found)") }
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private mutating func play() throws {
    // The last two: one until the recording has ended, one to its end.
    for process in 0..<13 where end.isEmpty && complaint == nil {
      // Only a person can find out whether it is stored.
      if record.failure == .mayBeStored {
        end = "mayBeStored"
        return
      }
      isHostile = process < 11
      log.append("process")
      try runProcess()
      now += 200_000_000
    }
    if end.isEmpty, complaint == nil { complaint = "no end" }
  }

  private mutating func machine() throws -> UploadMachine {
    if isHostile, chance(10) {
      status = StatusTime(seconds: status.seconds + 1, nanoseconds: 0)
      if isRecorded {
        rewrite()
      } else if versions[0] < 3 {
        hasChanged = true
        for index in versions.indices { versions[index] += 1 }
        if record.remote != nil { record.doubt = .replaced }
      }
    }
    if isHostile, Server.checksParts, !isRecorded, chance(5) {
      for index in versions.indices where chance(2) { edit(index) }
    }
    openedAt = status
    // As FileDoubt has it.
    if Server.checksParts, record.doubt != .replaced {
      record.doubt = record.sent.map { $0.statusTime != status } ?? false ? .touched : nil
    }
    let token = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    var request = UploadRequest(file: LocalPath("/set.wav"), destination: try server.destination())
    request.computesDigest = computesDigest
    // Or a GigHive gets it as a form.
    if connections == .automatic { request.uploadProtocol = .tus }
    let plan = UploadPlan(
      request, size: written ?? Server.size, isGrowing: written != nil, isAppended: isAppended,
      previous: record, recordID: "5e1f0a77",
      modifiedSeconds: server.modifiedSeconds(of: versions), connections: connections, boundary: Boundary(random: token)
    )
    return try UploadMachine(
      .upload(plan), UploadPolicy(retries: RetryPolicy(.failures(3), maximumDelayMilliseconds: 4000), seed: 7))
  }

  /// Somebody changes a part in place, and restores the modification time.
  private mutating func edit(_ index: Int) {
    guard versions[index] < 200 else { return }
    if server.hasObject { hasChanged = true }
    versions[index] += 1
    status = StatusTime(seconds: status.seconds + 1, nanoseconds: 0)
    log.append("the file is \(versions)")
  }

  /// The recorder writes a part again.
  private mutating func rewrite() {
    let index = Int.random(in: 0..<versions.count, using: &random)
    guard versions.reduce(0, +) < 35 else { return }
    if server.hasObject { hasChanged = true }
    versions[index] += 1
    if written == nil, record.remote != nil, !record.isGrowing { record.doubt = .replaced }
  }

  /// - Returns: whether the recording has ended; nil if neither that nor its growth is anything new.
  private mutating func grow(to length: Int64) -> Bool? {
    let now = min(Server.size, (written ?? 0) + Int64.random(in: 0..<(12 << 20), using: &random))
    written = now
    if chance(4) { rewrite() }
    if now >= length { return false }
    guard now == Server.size, chance(3) else { return nil }
    written = nil
    return true
  }

  private mutating func runProcess() throws {
    var machine = try machine()
    var request: HTTPRequest?
    // What is read for a part is what the digest has.
    var hasRead = false
    (lent, ahead, run) = ([], nil, nil)
    for _ in 0..<2000 {
      // A kill. Without digests of the parts, only the process that has sent them can tell that the file has another status since.
      if isHostile, Server.checksParts || !hasNewStatus, chance(25) { return }
      if isHostile, chance(60) { return stop(&machine, with: .cancelled(hasSentAll: false), hasRead: hasRead) }
      try lend(&machine)
      guard complaint == nil else { return }
      switch machine.next(nowMilliseconds: now, unixSeconds: now / 1000) {
      case .send(let next, _):
        request = next
        if next.announcesLastByte { machine.handle(.lastByteNext) }
        if let range = machine.task.nextRange, range != ahead?.range {
          ahead = hashed(range).map { (range, $0) }
          if !Server.checksParts || ahead == nil { complaint = "it reads ahead without a need" }
        }
      case .awaitLent: break
      case .await where request == nil && !lent.isEmpty: break
      case .await:
        guard let sent = request else {
          complaint = "it waits for nothing"
          return
        }
        request = nil
        if isHostile, Server.checksParts, !isRecorded, sent.method == "PUT", chance(20) {
          edit(Int.random(in: 0..<versions.count, using: &random))
          hasChanged = true
          machine.handle(.statusChanged(.whileReading))
        }
        machine.handle(answer(sent))
      case .hash(let work):
        guard let result = hashed(work) else {
          complaint = "it reads the file without a need"
          return
        }
        if case .range = work { hasRead = true }
        if ahead?.range == work, case .range(let digest, _)? = ahead?.result {
          hasUsedAhead = true
          machine.handle(.hashed(.range(digest: digest, changed: statusChange)))
        } else {
          machine.handle(.hashed(result))
        }
        ahead = nil
      case .awaitGrowth(let length):
        guard written != nil else {
          complaint = "it waits for what has ended"
          return
        }
        var hasEnded: Bool?
        while hasEnded == nil {
          if isHostile, chance(25) { return }
          hasEnded = grow(to: length)
        }
        machine.handle(.grown(hasEnded ?? true ? .ended : .enough))
      case .save(let change): save(change)
      case .wait(let until): now = max(now, until)
      case .renewCredentials: machine.handle(.credentials(areNew: false))
      case .reportWay(.parts): hasLeft = true
      case .reportRetry, .reportWay, .warn: break
      case .finished(.delivered(let receipt, let sent, _)): return checkDelivery(receipt, sent)
      case .finished(.ended) where isRecorded && written == nil: return
      case .finished:
        complaint = "finished in another way"
        return
      case .failed(let error):
        stop(&machine, with: error, hasRead: hasRead)
        return checkFailure(error)
      }
    }
    complaint = "an endless loop"
  }

  private mutating func stop(_ machine: inout UploadMachine, with error: UploadError, hasRead: Bool) {
    log.append("\(error)")
    let length = (0...Server.size).randomElement(using: &random) ?? 0
    let isKnown = computesDigest && hasRead && !hasNewStatus && !machine.task.sendsWhole && !machine.task.readsUnknown
    let sent = SentPart(
      length: length, sha256: Server.digest(versions, length), statusTime: Server.checksParts ? openedAt : nil)
    let facts = LocalFacts(sent: isKnown && length > 0 ? sent : nil, hasNewStatus: hasNewStatus)
    record.apply(machine.end(with: error, facts)) { _ in nil }
  }

  /// Other connections send parts, or go on with them.
  private mutating func lend(_ upload: inout UploadMachine) throws {
    if lent.count < 3, chance(3), let part = upload.lendPart() {
      let policy = UploadPolicy(retries: RetryPolicy(.failures(0), maximumDelayMilliseconds: 4000), seed: 7)
      lent.append((part, try UploadMachine(.part(part), policy), nil))
      if isHostile, !isRecorded, chance(5), versions[0] < 3 {
        edit(Int.random(in: 0..<versions.count, using: &random))
        hasChanged = true
        upload.handle(.statusChanged(.whileReading))
      }
    }
    for index in lent.indices.reversed() where chance(2) {
      // It may be dropped late.
      if !upload.awaits(lent[index].part.id), chance(2) {
        lent.remove(at: index)
        continue
      }
      let hasFailed = stepLent(index)
      let id = lent[index].part.id
      guard let progress = hasFailed ? .failed : lent[index].machine.task.progressOfPart else { continue }
      if progress.isEnd { lent.remove(at: index) }
      upload.handle(.lent(id, progress))
      if let change = upload.takeUnsaved() { save(change) }
    }
  }

  /// - Returns: whether it has failed.
  private mutating func stepLent(_ index: Int) -> Bool {
    switch lent[index].machine.next(nowMilliseconds: now, unixSeconds: now / 1000) {
    case .send(let next, _): lent[index].request = next
    case .await:
      guard let request = lent[index].request.take() else {
        complaint = "a part waits for nothing"
        return true
      }
      lent[index].machine.handle(answer(request))
    case .hash(let work):
      guard let result = hashed(work) else {
        complaint = "a part is read without a need"
        return true
      }
      lent[index].machine.handle(.hashed(result))
    case .failed: return true
    case .finished(.partTaken), .save, .reportRetry: break
    case let other: complaint = "a part does \(other)"
    }
    return false
  }

  private mutating func hashed(_ work: HashRange) -> HashResult? {
    switch work {
    case .range(_, let offset, let length)
    where length == 0 || Server.checksParts || record.isGrowing || Server.needsConnections:
      .range(digest: Server.digest(versions, at: offset, length), changed: statusChange)
    case .rangeAsSent(let offset, let length, let run) where record.isGrowing || Server.needsConnections:
      .rangeAsSent(
        digest: Server.digest(versions, at: offset, length),
        isAsSent: run.sha256 == ASCII.hex(Server.digest(versions, at: run.offset, run.length)))
    case .beginning(let length):
      .beginning(sha256: Server.digest(versions, length), isStable: !isHostile || !chance(9))
    case .wholeFile where computesDigest:
      .wholeFile(sha256: Server.digest(versions, Server.size), isStable: !hasNewStatus)
    case .wholeFileAgain where hasNewStatus:
      .wholeFileAgain(
        sent: Server.digest(versions, Server.size), now: Server.digest(versions, Server.size), isStable: true)
    default: nil
    }
  }

  private mutating func save(_ change: RecordChange) {
    log.append("save \(change)".prefix(60).description)
    if !change.mustBeSaved, case .parts = change, isHostile, chance(30) {
      hasLostSave = true
    } else {
      record.apply(change, size: Server.size, statusTime: Server.checksParts ? openedAt : nil)
    }
    let isReadable = record.parts?.tags.allSatisfy { $0.isEmpty || UploadedParts.isTag($0, isPath: true) }
    if isReadable == false { complaint = "a record that nobody can read: \(change)" }
    guard let url = record.remote?.url, let parts = record.parts else { return }
    known[server.name(ofUpload: url)] = Set(parts.tags.indices.filter { !parts.tags[$0].isEmpty }.map { $0 + 1 })
  }

  // MARK: The outcome

  private mutating func checkDelivery(_ receipt: Receipt, _ sent: SentFile) {
    end = "delivered"
    if (sent.sha256 != nil) != computesDigest { complaint = "a digest that nobody wants, or none" }
    if receipt.isChecksumVerified, !computesDigest, !Server.checksParts { complaint = "verified without a digest" }
    if !server.isWhole(versions) { complaint = "delivered: \(server), versions \(versions)" }
  }

  private mutating func checkFailure(_ error: UploadError) {
    switch error {
    case .objectExists:
      // Without the record's list, nothing shows that the object is this upload's.
      if server.showsOwner(versions), !hasLostSave, !hasChanged { complaint = "its own object: \(server)" }
      if server.hasObject { end = "objectExists" }
    case .unconfirmed: if server.hides { end = "unconfirmed" }
    case .mayBeStored: end = "mayBeStored"
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
    // The recorder writes something while it is read, and what was there before afterwards; unless it only appends.
    let written = versions
    if isHostile, request.body?.digestedFrom != nil, record.parts?.areInOrder != true, chance(6) {
      versions[Int.random(in: 0..<versions.count, using: &random)] = 99
    }
    defer { versions = written }
    let run = request.body.flatMap { read($0) }
    let lost = UploadEvent.interrupted(
      Interruption(.connectionLost(.awaitingConfirmation, peer: "hive", nil), sent: .whole, run: run))
    switch fate {
    case .lostBefore: return lost
    case .error: return .answered(Answer(status: 503, run: run))
    case .page: return .answered(server.page(for: request).with(run, nil))
    case .lostAfter:
      _ = serve(request)
      return lost
    case .errorAfter:
      _ = serve(request)
      return .answered(Answer(status: 500, run: run))
    case .fine, .fine2, .fine3, .fine4, .fine5: return .answered(serve(request).with(run, chance(3) ? .lossy : nil))
    }
  }

  /// As `TransferSource` does it.
  private mutating func read(_ body: RequestBody) -> SentRun? {
    guard let earliest = body.digestedFrom, body.fileLength > 0 else { return nil }
    var run =
      self.run.flatMap { $0.offset >= earliest && $0.end == body.fileOffset ? $0 : nil }
      ?? (offset: body.fileOffset, end: body.fileOffset, versions: Versions(repeating: -1, count: versions.count))
    for index in Int(body.fileOffset / Server.rangeLength)...Int((body.end - 1) / Server.rangeLength) {
      let former = run.versions[index]
      run.versions[index] = former == -1 || former == versions[index] ? versions[index] : 0
    }
    run.end = body.end
    self.run = run
    let length = run.end - run.offset
    let digest = Server.digest(run.versions, at: run.offset, length)
    return SentRun(offset: run.offset, length: length, sha256: ASCII.hex(digest))
  }

  private mutating func serve(_ request: HTTPRequest) -> Answer {
    let answer = server.answer(request, versions)
    log.append("  \(answer.status) \(String(decoding: answer.content, as: UTF8.self).prefix(80))")
    if let (upload, number) = server.repeated, known[upload]?.contains(number) ?? false, !mayRepeat, !hasLostSave {
      complaint = "part \(number) is sent twice"
    }
    return answer
  }
}

extension Answer {
  fileprivate func with(_ run: SentRun?, _ link: LinkCounts?) -> Answer {
    Answer(status: status, fields: fields, content: content, run: run, link: link)
  }
}

extension RequestBody {
  /// Where it ends in the file, in bytes.
  fileprivate var end: Int64 { fileOffset + fileLength }
}
