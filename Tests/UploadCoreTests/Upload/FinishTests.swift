import Testing
import UploadCore

/// The end of an upload where little is lost, as after a reload of the configuration.
struct FinishTests {
  private let cancelled = ScriptedServer.End.failed(.cancelled(hasSentAll: false))
  private let create = ["OPTIONS /files/", "POST /files/", "save created"]
  private let finalize = "POST /api/uploads/finalize"

  /// - Parameter line: of the log, after which it is to end.
  private func run(
    _ machine: UploadMachine, finishingAfter line: String, _ replies: [ScriptedServer.Reply]
  ) -> (end: ScriptedServer.End?, log: [String]) {
    var server = ScriptedServer(replies)
    server.finishesAfter = line
    let end = server.run(machine)
    return (end, server.log)
  }

  private func tus() throws -> UploadMachine {
    try .upload(
      to: .gigHive,
      configure: {
        $0.uploadProtocol = .tus
        $0.chunkLength = 50
      })
  }

  @Test func theRequestInFlightIsTheLast() throws {
    let (end, log) = run(try tus(), finishingAfter: "PATCH /files/1 0..<50", [.offer, .created, .has(50)])
    #expect(end == cancelled && log == create + ["PATCH /files/1 0..<50"])
  }

  @Test func whatTheServerHasIsMadeARecording() throws {
    let patches = ["PATCH /files/1 0..<50", "PATCH /files/1 50..<100", "save uploaded"]
    let (end, log) = run(
      try tus(), finishingAfter: patches[1],
      [.offer, .created, .has(50), .has(100), .status(503), .status(201, content: GigHive.created)])
    #expect(end == GigHive.delivered() && log == create + patches + ["hash", finalize, "wait", finalize])
  }

  @Test func aFormThatIsBeingSentIsCompleted() throws {
    let post = "POST /api/uploads.php?ui=json 0..<100"
    let pending = ScriptedServer.Reply.status(202, content: #"{"status":"pending","asset_id":9}"#)
    let (end, log) = run(
      try .upload(to: .gigHive), finishingAfter: post, [pending, .status(200, content: GigHive.created)])
    #expect(end?.isFailure == false && log == [post, "hash", "save processing", "wait", "GET /api/uploads/9"])
  }

  @Test func aFormThatHasFailedIsNotRepeated() throws {
    let post = "POST /api/uploads.php?ui=json 0..<100"
    let (end, log) = run(try .upload(to: .gigHive), finishingAfter: post, [.lost()])
    #expect(end == cancelled && log == [post])
  }

  @Test func aPauseEndsAtOnce() throws {
    var server = ScriptedServer([.offer, .status(503)])
    server.finishesAfter = "wait"
    #expect(server.run(try tus()) == cancelled && server.milliseconds < 1000)
  }

  @Test func theFileIsNotReadForARequestThatWillNotCome() throws {
    var previous = UploadPlan.PreviousState()
    previous.assetID = 9
    var machine = try UploadMachine.upload(to: .gigHive, previous: previous)
    guard case .hash(.wholeFile) = machine.next(nowMilliseconds: 0) else {
      Issue.record("it asks before it knows what it has sent")
      return
    }
    machine.finish()
    guard case .failed(.cancelled(hasSentAll: false)) = machine.next(nowMilliseconds: 0) else {
      Issue.record("it goes on")
      return
    }
  }
}
