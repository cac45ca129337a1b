import Testing
import UploadCore

/// The machine's table: every event in every state.
struct UploadMachineTests {
  /// A name, a machine in that state, and the events that lead out of it.
  private typealias Row = (state: String, machine: UploadMachine, exits: Set<String>)

  private static let events: [(name: String, event: UploadEvent)] = [
    ("answered", .answered(Answer(status: 503))),
    ("interrupted", .interrupted(Interruption(.uploadLost))),
    ("hashed", .hashed(.wholeFile(sha256: GigHive.sha256))),
    ("read again", .hashed(.wholeFileAgain(sent: "a", now: "a", isStable: true))),
    ("touched", .statusChanged(.beforeEnd(isDigested: true))),
    ("credentials", .credentials(areNew: true)),
    ("failed", .failed(.outOfResources("threads"))),
  ]

  private func machine(_ events: [UploadEvent], size: Int64 = 100) throws -> UploadMachine {
    var machine = try UploadMachine.upload(to: .gigHive, size: size, policy: { $0.canRenewCredentials = true })
    for event in events {
      _ = machine.next(nowMilliseconds: 0)
      machine.handle(event)
    }
    return machine
  }

  private func rows() throws -> [Row] {
    let pending = UploadEvent.answered(Answer(status: 202, content: bytes(#"{"status":"pending","asset_id":9}"#)))
    let hashed = UploadEvent.hashed(.wholeFile(sha256: GigHive.sha256))
    let created = UploadEvent.answered(Answer(status: 201, content: bytes(GigHive.created)))
    let refused = UploadEvent.answered(Answer(status: 400))
    var inFlight = try machine([])
    _ = inFlight.next(nowMilliseconds: 0)
    var holding = inFlight
    holding.handle(.statusChanged(.beforeEnd(isDigested: true)))
    var rereading = holding
    _ = rereading.next(nowMilliseconds: 0)
    var hashing = try machine([pending])
    _ = hashing.next(nowMilliseconds: 0)
    let failing = try machine([pending, hashed])
    // A full send is saved first.
    var retrying = try machine([.answered(Answer(status: 503)), hashed], size: 2 << 20)
    _ = retrying.next(nowMilliseconds: 0)
    var waiting = failing
    // The number of the recording is saved first.
    for _ in 0..<2 { _ = waiting.next(nowMilliseconds: 0) }
    var renewing = waiting
    _ = renewing.next(nowMilliseconds: 100_000)
    renewing.handle(.answered(Answer(status: 401)))
    var finished = try machine([created, hashed])
    _ = finished.next(nowMilliseconds: 0)
    var failed = try machine([refused, hashed])
    _ = failed.next(nowMilliseconds: 0)
    return [
      ("deciding", try machine([]), ["failed"]),
      ("inFlight", inFlight, ["answered", "interrupted", "touched", "failed"]),
      ("holding", holding, ["interrupted", "failed"]),
      ("rereading", rereading, ["interrupted", "read again", "failed"]),
      ("hashing", hashing, ["hashed", "failed"]),
      ("failing", failing, ["failed"]),
      ("retrying", retrying, ["failed"]),
      ("waiting", waiting, ["failed"]),
      ("renewingCredentials", renewing, ["credentials", "failed"]),
      ("finished", finished, []),
      ("failed", failed, []),
    ]
  }

  @Test func eachRowIsInTheStateThatItNames() throws {
    for row in try rows() {
      #expect(String(describing: row.machine.state).prefix { $0 != "(" } == row.state)
    }
  }

  /// After the end, an event changes nothing. Before, one that is not expected is a bug, and the upload can be resumed.
  @Test func everyStateTakesItsEventsOnly() throws {
    for row in try rows() {
      let hasEnded = ["finished", "failed"].contains(row.state)
      for (name, event) in UploadMachineTests.events {
        var machine = row.machine
        machine.handle(event)
        let isRefused = if case .failed(.internalError) = machine.state { true } else { false }
        #expect((machine.state != row.machine.state) == !hasEnded, "\(row.state), \(name)")
        #expect(isRefused == (!hasEnded && !row.exits.contains(name)), "\(row.state), \(name)")
        // Whatever the event, there is a next action.
        _ = machine.next(nowMilliseconds: 0)
      }
    }
  }

  @Test func aRequestCountsAsInFlightFromWhenItIsToBeSent() throws {
    var machine = try machine([])
    #expect(machine.inFlightCount == 0)
    guard case .send = machine.next(nowMilliseconds: 0) else {
      Issue.record("nothing is sent")
      return
    }
    #expect(machine.inFlightCount == 1 && machine.next(nowMilliseconds: 0) == .await)
    machine.handle(.answered(Answer(status: 400, sent: .partial)))
    #expect(machine.inFlightCount == 0)
  }

  @Test func theResponseBehindARetryIsKept() throws {
    var machine = try machine([])
    _ = machine.next(nowMilliseconds: 0)
    #expect(machine.answer == nil)
    let answer = Answer(status: 400, content: bytes("no"), sent: .partial)
    machine.handle(.answered(answer))
    #expect(machine.answer == answer)
  }

  @Test func aLaterFailureWithoutAResponseHasNone() throws {
    for event in [
      UploadEvent.interrupted(Interruption(.connectionLost(.sending, peer: "h", nil))),
      .failed(.cancelled(hasSentAll: false)),
    ] {
      var machine = try machine([])
      _ = machine.next(nowMilliseconds: 0)
      machine.handle(.answered(Answer(status: 308, fields: [Field("Location", "/other")], sent: .partial)))
      _ = machine.next(nowMilliseconds: 0)
      #expect(machine.answer?.status == 308)
      machine.handle(event)
      #expect(machine.answer == nil)
    }
  }

  // MARK: What the driver is told

  /// Reading the file to ask about an earlier process's form is not verifying: this process has sent nothing.
  @Test func whileTheFileIsReadOnlyASentFormIsVerified() throws {
    var previous = UnfinishedUpload()
    previous.assetID = 9
    var recalling = try UploadMachine.upload(to: .gigHive, previous: previous)
    #expect(recalling.next(nowMilliseconds: 0) == .hash(.wholeFile) && !recalling.task.isVerifying)
    var sending = try machine([])
    _ = sending.next(nowMilliseconds: 0)
    sending.handle(.answered(Answer(status: 201, content: bytes(GigHive.created))))
    #expect(sending.next(nowMilliseconds: 0) == .hash(.wholeFile) && sending.task.isVerifying)
  }

  /// Of an attempt that ends while it reads what an earlier process has sent, the record keeps no more than it has.
  @Test(arguments: [SentPart(length: 60, sha256: "ab"), nil])
  func progressIsReportedWhileAnUnknownBeginningIsRead(sent: SentPart?) throws {
    var previous = UnfinishedUpload()
    (previous.remote, previous.sent) = (RemoteUpload(url: "https://hive/files/1", offset: 42), sent)
    var machine = try UploadMachine.upload(to: .tusServer, previous: previous, configure: { $0.computesDigest = true })
    let proof = Field("Tus-Resumable", "1.0.0")
    for field in [Field("Tus-Version", "1.0.0"), Field("Upload-Offset", "42")] {
      _ = machine.next(nowMilliseconds: 0)
      machine.handle(.answered(Answer(status: 200, fields: [proof, field])))
    }
    #expect(machine.next(nowMilliseconds: 0) == .hash(.beginning(length: sent?.length ?? 42)))
    #expect(machine.task.readsUnknown == (sent == nil))
    machine.handle(.hashed(.beginning(sha256: "ab", isStable: true)))
    #expect(!machine.task.readsUnknown)
  }

  @Test func aSecondDeletionLearnsThatItMayBeDone() throws {
    var machine = try UploadMachine.delete()
    #expect(!machine.task.mayBeDeleted)
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.interrupted(Interruption(.connectionLost(.awaitingAnswer, peer: "hive", nil), sent: .whole)))
    #expect(machine.task.mayBeDeleted)
  }

  @Test(arguments: [false, true])
  func onlyAFormForGigHiveMayBeSentTwice(isForGigHive: Bool) throws {
    var machine = try UploadMachine.upload(to: isForGigHive ? .gigHive : .plain)
    guard case .send(let request, _) = machine.next(nowMilliseconds: 0) else { throw TranscriptRun.Failure("not sent") }
    #expect(request.isRepeatable == isForGigHive && request.announcesLastByte == !isForGigHive)
  }

  /// Each response in between would reset the count, but nothing is ever stored.
  @Test func aServerThatRedirectsEachPatchElsewhereIsNotFollowedForever() throws {
    let proof = Field("Tus-Resumable", "1.0.0")
    var previous = UnfinishedUpload()
    previous.remote = RemoteUpload(url: "https://hive/files/1")
    var machine = try UploadMachine.upload(to: .tusServer, previous: previous)
    var count = 0
    while true {
      switch machine.next(nowMilliseconds: 0) {
      case .send(let request, _) where request.method == "PATCH":
        count += 1
        machine.handle(.answered(Answer(status: 307, fields: [Field("Location", "/\(count)")])))
      case .send(let request, _):
        let field = request.method == "HEAD" ? Field("Upload-Offset", "0") : Field("Tus-Version", "1.0.0")
        machine.handle(.answered(Answer(status: 200, fields: [proof, field])))
      case .failed(let error):
        #expect(error == .redirectionRefused(location: "/51", .tooMany(limit: 50)))
        return
      default: continue
      }
    }
  }

  // MARK: Time

  @Test func atTheTimeLimitAFormThatIsBeingComparedMayBeStored() throws {
    let error = UploadError.timedOut(.delivering, peer: "https://hive", limitMilliseconds: 10)
    var machine = try UploadMachine.upload(
      to: .plain, policy: { $0.totalMilliseconds = 10 }, configure: { $0.computesDigest = true })
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.answered(Answer(status: 200)))
    #expect(machine.next(nowMilliseconds: 9) == .hash(.wholeFile))
    #expect(machine.next(nowMilliseconds: 10) == .failed(.mayBeStored(error)))
  }

  /// 100 MiB at 100 Mbit/s over 100 ms take 8389 ms to send. Sequential requests would take half as long again.
  @Test func overADistanceTheLineIsNeverIdle() throws {
    let size: Int64 = 100 << 20
    var machine = try UploadMachine.upload(to: .tusServer, size: size)
    let proof = Field("Tus-Resumable", "1.0.0")
    for (status, field) in [(204, Field("Tus-Version", "1.0.0")), (201, Field("Location", "1"))] {
      _ = machine.next(nowMilliseconds: 0)
      machine.handle(.answered(Answer(status: status, fields: [proof, field], afterMilliseconds: 100)))
    }
    var milliseconds = 0.0
    var answers: [(at: Double, offset: Int64)] = []
    while true {
      switch machine.next(nowMilliseconds: 0) {
      case .send(let request, _):
        milliseconds += Double(request.contentLength) / 12_500
        answers.append((milliseconds + 100, request.fileOffset + request.contentLength))
      case .await:
        let (at, offset) = answers.removeFirst()
        milliseconds = max(milliseconds, at)
        let fields = [proof, Field("Upload-Offset", String(offset))]
        machine.handle(.answered(Answer(status: 204, fields: fields, afterMilliseconds: 100)))
      case .finished:
        #expect(milliseconds < 1.05 * 8389)
        return
      default: continue
      }
    }
  }
}
