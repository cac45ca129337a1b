import Testing
import UploadCore

/// How the response to the first of two requests in flight affects the second.
struct PipelinedUploadTests {
  private let quarter = Limits.chunkStartLength / 2
  private let location = "https://hive/files/1"

  private func answer(_ status: Int, _ fields: [Field] = [], afterMilliseconds: Int64 = 0) -> Answer {
    Answer(status: status, fields: fields, afterMilliseconds: afterMilliseconds)
  }

  private func stored(_ offset: Int64) -> Answer { answer(204, [Field("Upload-Offset", String(offset))]) }

  /// The next action of the machine.
  private enum Next: Equatable {
    /// A request with this method, the offset of its content in the file, and its connection.
    case asks(String, ConnectionChoice)
    /// A delay, then a request with this method.
    case pauses(UploadError, String)
    case renewsCredentials
    case awaits
    case fails(UploadError)
    case delivers
  }

  private func next(of machine: inout UploadMachine) -> Next? {
    while true {
      switch machine.next(nowMilliseconds: 0) {
      case .save: continue
      case .send(let request, let choice):
        return .asks(request.method + (request.contentLength > 0 ? " \(request.fileOffset)" : ""), choice)
      case .reportRetry(let retry):
        guard case .wait(let time) = machine.next(nowMilliseconds: 0) else { return nil }
        var action = machine.next(nowMilliseconds: time)
        while case .save = action { action = machine.next(nowMilliseconds: time) }
        guard case .send(let request, _) = action else { return nil }
        return .pauses(retry.error, request.method)
      case .renewCredentials: return .renewsCredentials
      case .await: return .awaits
      case .failed(let error): return .fails(error)
      case .finished(.delivered): return .delivers
      default: return nil
      }
    }
  }

  /// An upload to a distant server, with two requests in flight.
  private func twoInFlight() throws -> UploadMachine {
    var machine = try UploadMachine.upload(to: .tusServer, size: 4 * quarter, policy: { $0.canRenewCredentials = true })
    #expect(next(of: &machine) == .asks("OPTIONS", .reused))
    machine.handle(.answered(answer(204, [Field("Tus-Version", "1.0.0"), Field("Tus-Extension", "creation")])))
    #expect(next(of: &machine) == .asks("POST", .reused))
    let created = [Field("Tus-Resumable", "1.0.0"), Field("Location", location)]
    machine.handle(.answered(answer(201, created, afterMilliseconds: Limits.pipelineFromMilliseconds)))
    #expect(next(of: &machine) == .asks("PATCH 0", .reused) && machine.inFlightCount == 1)
    #expect(next(of: &machine) == .asks("PATCH \(quarter)", .reused) && machine.inFlightCount == 2)
    return machine
  }

  @Test func theExpectedAnswerLeavesTheSecondInFlightAndAThirdFollows() throws {
    var machine = try twoInFlight()
    #expect(next(of: &machine) == .awaits && machine.inFlightCount == 2)
    machine.handle(.answered(stored(quarter)))
    #expect(machine.inFlightCount == 1)
    #expect(next(of: &machine) == .asks("PATCH \(2 * quarter)", .reused) && machine.inFlightCount == 2)
    machine.handle(.answered(stored(2 * quarter)))
    #expect(next(of: &machine) == .asks("PATCH \(3 * quarter)", .reused) && machine.inFlightCount == 2)
    machine.handle(.answered(stored(3 * quarter)))
    machine.handle(.answered(stored(4 * quarter)))
    #expect(machine.inFlightCount == 0 && next(of: &machine) == .delivers)
  }

  /// The second response, if it arrives, does not count, because its offset is unknown.
  @Test func anyOtherAnswerMakesTheSecondPointless() throws {
    let proof = [Field("Tus-Resumable", "1.0.0")]
    let lost = UploadError.connectionLost(.sending, peer: "hive", SystemError(code: 104))
    var rows: [(UploadEvent, Next)] = [204, 409, 413].map { (.answered(answer($0, proof)), .asks("HEAD", .reused)) }
    // After a response without proof, the client waits.
    rows += [200, 204, 404, 410].map { (.answered(answer($0)), .pauses(.notFromServer(status: $0), "HEAD")) }
    rows += [404, 410].map { (.answered(answer($0, proof)), .pauses(.uploadLost, "POST")) }
    rows += [500, 503].map { (.answered(answer($0)), .pauses(.refused(status: $0, message: ""), "HEAD")) }
    rows += [
      (.answered(stored(quarter - 1)), .asks("PATCH \(quarter - 1)", .reused)),
      // The response to the second one came first.
      (.answered(stored(2 * quarter)), .asks("HEAD", .reused)),
      // The server claims something impossible.
      (
        .answered(stored(2 * quarter + 1)),
        .fails(.tus(.offsetBeyond(sent: 2 * quarter, acknowledged: 2 * quarter + 1)))
      ),
      (.answered(answer(401)), .renewsCredentials),
      (.answered(answer(423)), .pauses(.tus(.locked), "HEAD")),
      (.interrupted(Interruption(lost, sent: .whole)), .pauses(lost, "HEAD")),
    ]
    for (event, expected) in rows {
      var machine = try twoInFlight()
      machine.handle(event)
      #expect(machine.inFlightCount == 0, "\(event)")
      machine.handle(.answered(stored(2 * quarter)))
      #expect(next(of: &machine) == expected, "\(event)")
      if expected == .renewsCredentials {
        machine.handle(.credentials(areNew: true))
        #expect(next(of: &machine) == .asks("HEAD", .reused))
      }
    }
  }

  /// A server that allows few requests per connection has closed it after the first response.
  @Test func aConnectionThatEndsAfterTheFirstResponseIsNoFailureAndTheNextOnesAreNew() throws {
    var machine = try twoInFlight()
    machine.handle(.answered(stored(quarter)))
    machine.handle(
      .interrupted(
        Interruption(
          .connectionLost(.sending, peer: "hive", nil), sent: .partial, staleness: .used(hasSentLittle: true))))
    #expect(machine.inFlightCount == 0 && next(of: &machine) == .asks("HEAD", .fresh))
    machine.handle(.answered(answer(200, [Field("Upload-Offset", String(quarter))], afterMilliseconds: 100)))
    #expect(next(of: &machine) == .asks("PATCH \(quarter)", .fresh))
    // And one request at a time.
    #expect(next(of: &machine) == .awaits && machine.inFlightCount == 1)
  }
}
