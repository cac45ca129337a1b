import Testing
import UploadCore

/// What the answer to the first of two requests under way makes of the second.
struct PipelinedUploadTests {
  private let quarter = Limits.chunkStartLength / 2
  private let location = "https://hive/files/1"

  private func answer(_ status: Int, _ fields: [Field] = [], afterMilliseconds: Int64 = 0) -> Answer {
    Answer(status: status, fields: fields, afterMilliseconds: afterMilliseconds)
  }

  private func stored(_ offset: Int64) -> Answer { answer(204, [Field("Upload-Offset", String(offset))]) }

  /// Asks for the next request.
  /// - Returns: its method and where its content begins in the file, and over which connection it goes.
  private func ask(
    _ machine: inout UploadMachine, sourceLocation: SourceLocation = #_sourceLocation
  ) -> (text: String, choice: ConnectionChoice)? {
    while true {
      switch machine.next(nowMilliseconds: 0) {
      case .save: continue
      case .send(let request, let choice):
        return (request.method + (request.contentLength > 0 ? " \(request.fileOffset)" : ""), choice)
      case let action:
        Issue.record("no request: \(action)", sourceLocation: sourceLocation)
        return nil
      }
    }
  }

  /// An upload to a server far away, with two requests under way.
  private func twoUnderWay() throws -> UploadMachine {
    let request = UploadRequest(file: "/srv/set.wav", destination: .tus(try TargetURI("https://hive/files/")))
    let plan = UploadPlan(request, size: 4 * quarter, boundary: Boundary(random: Array(0...15)))
    var policy = UploadPolicy(retries: RetryPolicy(retries: 5, maximumDelayMilliseconds: 1000), seed: 1)
    policy.canRenewCredentials = true
    var machine = try UploadMachine(.upload(plan), policy)
    #expect(ask(&machine)?.text == "OPTIONS")
    machine.handle(.answered(answer(204, [Field("Tus-Version", "1.0.0"), Field("Tus-Extension", "creation")])))
    #expect(ask(&machine)?.text == "POST")
    machine.handle(
      .answered(
        answer(
          201, [Field("Tus-Resumable", "1.0.0"), Field("Location", location)],
          afterMilliseconds: Limits.pipelineFromMilliseconds)))
    #expect(ask(&machine)?.text == "PATCH 0" && machine.underWayCount == 1)
    #expect(ask(&machine)?.text == "PATCH \(quarter)" && machine.underWayCount == 2)
    return machine
  }

  @Test func noThirdRequestGoesOut() throws {
    var machine = try twoUnderWay()
    #expect(machine.next(nowMilliseconds: 0) == .await && machine.underWayCount == 2)
  }

  @Test func theExpectedAnswerLeavesTheSecondUnderWayAndAThirdFollows() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(stored(quarter)))
    #expect(machine.underWayCount == 1)
    #expect(ask(&machine)?.text == "PATCH \(2 * quarter)" && machine.underWayCount == 2)
    machine.handle(.answered(stored(2 * quarter)))
    #expect(ask(&machine)?.text == "PATCH \(3 * quarter)" && machine.underWayCount == 2)
    machine.handle(.answered(stored(3 * quarter)))
    machine.handle(.answered(stored(4 * quarter)))
    #expect(machine.underWayCount == 0)
    guard case .finished(.delivered) = machine.next(nowMilliseconds: 0) else {
      Issue.record("not delivered")
      return
    }
  }

  /// The second one's answer, should it come, counts for nothing: nobody knows where it was written.
  @Test(arguments: [204, 409, 413])
  func anotherAnswerMakesTheSecondPointlessAndTheOffsetIsAsked(status: Int) throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(answer(status, [Field("Tus-Resumable", "1.0.0")])))
    #expect(machine.underWayCount == 0)
    machine.handle(.answered(stored(2 * quarter)))
    #expect(ask(&machine)?.text == "HEAD")
  }

  /// So does what does not prove to be the server's; a pause comes first.
  @Test(arguments: [200, 204, 404, 410])
  func anAnswerOfSomebodyMakesTheSecondPointless(status: Int) throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(answer(status)))
    #expect(machine.underWayCount == 0)
    guard case .tell(let retry) = machine.next(nowMilliseconds: 0) else {
      Issue.record("not told")
      return
    }
    #expect(retry.error == .notFromServer(status: status))
    guard case .wait = machine.next(nowMilliseconds: 0) else {
      Issue.record("no pause")
      return
    }
    #expect(machine.next(nowMilliseconds: 1000).isRequest("HEAD"))
  }

  @Test func anAnswerThatStoresAPartMakesTheSecondPointless() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(stored(quarter - 1)))
    #expect(machine.underWayCount == 0)
    #expect(ask(&machine)?.text == "PATCH \(quarter - 1)")
  }

  /// The server says what it cannot know.
  @Test func anAnswerThatClaimsMoreThanWasSentEndsTheUpload() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(stored(2 * quarter)))
    #expect(machine.underWayCount == 0)
    #expect(
      machine.next(nowMilliseconds: 0)
        == .failed(.tus(.offsetBeyond(sent: quarter, acknowledged: 2 * quarter))))
  }

  @Test func refusedCredentialsMakeTheSecondPointless() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(answer(401)))
    #expect(machine.underWayCount == 0 && machine.next(nowMilliseconds: 0) == .renewCredentials)
    machine.handle(.credentials(areNew: true))
    #expect(ask(&machine)?.text == "HEAD")
  }

  @Test func aRefusalForNowMakesTheSecondPointlessAndIsWaitedFor() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(answer(503)))
    #expect(machine.underWayCount == 0)
    guard case .tell(let retry) = machine.next(nowMilliseconds: 0) else {
      Issue.record("not told")
      return
    }
    #expect(retry.error == .refused(status: 503, message: ""))
  }

  /// A server that takes few requests a connection has closed it behind the first answer.
  @Test func aConnectionThatEndsBehindTheFirstAnswerIsNoFailureAndTheNextOnesAreNew() throws {
    var machine = try twoUnderWay()
    machine.handle(.answered(stored(quarter)))
    machine.handle(
      .interrupted(
        Interruption(
          .connectionLost(.sending, peer: "hive", nil), sent: .begun, connection: .used(hasSentLittle: true))))
    #expect(machine.underWayCount == 0)
    let asked = try #require(ask(&machine))
    #expect(asked.text == "HEAD" && asked.choice == .fresh)
    machine.handle(.answered(answer(200, [Field("Upload-Offset", String(quarter))], afterMilliseconds: 100)))
    let patch = try #require(ask(&machine))
    #expect(patch.text == "PATCH \(quarter)" && patch.choice == .fresh)
    // And one request at a time.
    #expect(machine.next(nowMilliseconds: 0) == .await && machine.underWayCount == 1)
  }

  @Test func anInterruptionOfBothIsAFailure() throws {
    var machine = try twoUnderWay()
    let error = UploadError.connectionLost(.sending, peer: "hive", SystemError(code: 104))
    machine.handle(.interrupted(Interruption(error, sent: .whole)))
    #expect(machine.underWayCount == 0)
    guard case .tell(let retry) = machine.next(nowMilliseconds: 0) else {
      Issue.record("not told")
      return
    }
    #expect(retry.error == error && retry.failures == 1)
  }
}

extension UploadAction {
  fileprivate func isRequest(_ method: String) -> Bool {
    if case .send(let request, _) = self { request.method == method } else { false }
  }
}
