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

  @Test func theRowsAreInTheStatesThatTheyAreCalledBy() throws {
    for row in try rows() {
      #expect(String(describing: row.machine.state).prefix { $0 != "(" } == row.state)
    }
  }

  /// An event that is no longer expected changes nothing, and never traps.
  @Test func everyStateTakesEveryEvent() throws {
    for row in try rows() {
      for (name, event) in UploadMachineTests.events {
        var machine = row.machine
        machine.handle(event)
        #expect((machine.state != row.machine.state) == row.exits.contains(name), "\(row.state), \(name)")
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

  @Test func aProxyThatWantsOtherCredentialsEndsAnUploadOfAnyProtocol() throws {
    var form = EventForm()
    (form.label, form.eventDate) = ("Set 1", "2026-05-01")
    let destinations: [Destination] = [
      .multipart(try TargetURI("http://hive/upload")), .tus(try TargetURI("http://hive/files/")),
      .gigHive(try TargetURI("http://hive/"), form),
    ]
    for destination in destinations {
      let proxy = try Proxy(variable: "a:b@proxy:3128")
      let machine = try UploadMachine.upload(to: destination, policy: { $0.proxies.http = proxy })
      var server = ScriptedServer([.status(407)])
      #expect(server.run(machine) == .failed(.proxyRefused(status: 407, proxy: "proxy:3128", hadCredentials: true)))
    }
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

  @Test func aFailureOnThisSideEndsAnUploadAtOnce() throws {
    var machine = try machine([])
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.failed(.cancelled(hasSentAll: false)))
    #expect(machine.next(nowMilliseconds: 0) == .failed(.cancelled(hasSentAll: false)))
  }
}
