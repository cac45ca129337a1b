import Testing
import UploadCore

/// A server that fails after everything was sent gets it three times a day.
struct FullSendLimitTests {
  private static let size: Int64 = 3 << 20
  private static let failure = UploadError.refused(status: 500, message: "")
  private static let unavailable = UploadError.refused(status: 502, message: "")

  private func form(
    _ limit: RetryLimit, size: Int64 = size, fullSends: FullSends? = nil
  ) throws -> UploadMachine {
    var previous = UploadPlan.PreviousState()
    previous.fullSends = fullSends
    return try .upload(
      to: .gigHive, size: size, previous: previous,
      policy: { $0.retries = RetryPolicy(limit, maximumDelayMilliseconds: 1000) })
  }

  private func postponed(_ error: UploadError = failure, from first: Int64) -> ScriptedServer.End {
    .failed(.postponed(error, untilSeconds: first + 86_400, .sentRepeatedly(count: 3)))
  }

  @Test(arguments: [.failures(5), .time(milliseconds: 3_600_000), .forever] as [RetryLimit])
  func aFormIsSentThreeTimes(limit: RetryLimit) throws {
    var server = ScriptedServer([.status(500), .status(502), .status(500)])
    #expect(server.run(try form(limit)) == postponed(from: server.bootedAtSeconds))
    #expect(server.log.filter { $0.hasPrefix("save failedFullSends") }.count == 3)
    #expect(server.record.unfinished?.fullSends?.times.count == 3)
  }

  /// A server that restarts must not use up all.
  @Test func theyAreSpread() throws {
    var server = ScriptedServer([
      .status(503), .status(503),
      .status(201, content: GigHive.created(checksum: GigHive.sha256, size: FullSendLimitTests.size)),
    ])
    #expect(server.run(try form(.failures(2)))?.isFailure == false)
    #expect(server.retries.map { $0.delayMilliseconds / 1000 } == [10, 60])
  }

  /// Others are sent first, and the caller waits.
  @Test func aWatcherGetsItBackAfterTheFirst() throws {
    var policy = RetryPolicy(.failures(5), maximumDelayMilliseconds: 1000)
    policy.endsAfterFullSend = true
    let machine = try UploadMachine.upload(to: .gigHive, size: FullSendLimitTests.size, policy: { $0.retries = policy })
    var server = ScriptedServer([.status(500)])
    let until = server.bootedAtSeconds + 10
    #expect(
      server.run(machine)
        == .failed(.postponed(FullSendLimitTests.failure, untilSeconds: until, .sentRepeatedly(count: 1))))
    // What does not pass needs no second one.
    let unwanted = UploadError.refused(status: 422, message: "")
    var final = ScriptedServer([.status(422)])
    #expect(final.run(machine) == .failed(unwanted))
  }

  @Test func aLimitOfRetriesComesFirst() throws {
    var server = ScriptedServer([.status(500), .status(500)])
    #expect(server.run(try form(.failures(1))) == .failed(FullSendLimitTests.failure))
    #expect(server.record.unfinished?.fullSends?.times.count == 2)
  }

  @Test func theDayIsKeptOverProcesses() throws {
    let now: Int64 = 1_800_000_000
    let earlier = try #require(FullSends(.refused, times: [now - 3600, now - 60]))
    var server = ScriptedServer([.status(500)])
    #expect(server.run(try form(.forever, fullSends: earlier)) == postponed(from: now - 3600))
    // A day later there are three again.
    let old = try #require(FullSends(.refused, times: [now - 90_000, now - 86_400]))
    var later = ScriptedServer([.status(500), .status(500), .status(500)])
    #expect(later.run(try form(.forever, fullSends: old)) == postponed(from: now))
  }

  @Test func anErrorThatIsNotRetriedCountsToo() throws {
    let now: Int64 = 1_800_000_000
    let unwanted = UploadError.refused(status: 422, message: "")
    var first = ScriptedServer([.status(422)])
    #expect(first.run(try form(.failures(5))) == .failed(unwanted))
    #expect(first.record.unfinished?.fullSends?.times == [now])
    let earlier = try #require(FullSends(.refused, times: [now - 2, now - 1]))
    var third = ScriptedServer([.status(422)])
    #expect(third.run(try form(.failures(5), fullSends: earlier)) == postponed(unwanted, from: now - 2))
  }

  private static let unreachable = UploadError.connectionLost(
    .awaitingConfirmation, peer: "hive", SystemError(code: 113))
  /// All of it was written, and nothing shows that it arrived.
  private static let noRoute = ScriptedServer.Reply.interruption(Interruption(unreachable, sent: .whole))

  @Test(
    arguments: [
      .status(500, sent: .partial), .status(500, sent: .none), .lost(.partial, arrived: 2 << 20), noRoute,
    ] as [ScriptedServer.Reply])
  func whatWasNotSentCompletelyDoesNotCount(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer(Array(repeating: reply, count: 6))
    guard case .failed(let error) = server.run(try form(.failures(5))) else { throw Unexpected() }
    #expect(error == error.cause && server.record.unfinished?.fullSends == nil)
  }

  @Test func shortFilesDoNotCount() throws {
    var server = ScriptedServer(Array(repeating: .status(500), count: 6))
    #expect(server.run(try form(.failures(5), size: 1_000_000)) == .failed(FullSendLimitTests.failure))
    #expect(server.record.unfinished?.fullSends == nil)
  }

  private static let closed = UploadError.connectionLost(.awaitingConfirmation, peer: "hive", nil)

  @Test(arguments: [
    Interruption(closed, sent: .whole), Interruption(unreachable, sent: .whole, arrived: 3 << 20),
    Interruption(.timedOut(.awaitingConfirmation, peer: "hive", limitMilliseconds: 1), sent: .whole, arrived: 3 << 20),
  ])
  func aServerThatNeverAnswersGetsItThreeTimes(interruption: Interruption) throws {
    let lost = ScriptedServer.Reply.interruption(interruption)
    let error = interruption.error
    var server = ScriptedServer([lost, lost, lost])
    #expect(server.run(try form(.forever)) == postponed(error, from: server.bootedAtSeconds))
  }

  // MARK: tus

  private func tus(_ limit: RetryLimit, offset: Int64 = 0, fullSends: FullSends? = nil) throws -> UploadMachine {
    var previous = try UploadPlan.PreviousState.at(offset: offset)
    previous.fullSends = fullSends
    return try .upload(
      to: .tusServer, size: 20 << 20, previous: previous,
      policy: { $0.retries = RetryPolicy(limit, maximumDelayMilliseconds: 1000) })
  }

  /// A tus server that answers PATCH with 502, and keeps some of it.
  private func failingServer(keeping kept: Int64, from start: Int64 = 0) -> ScriptedServer {
    var offset = start
    return .tus(
      head: { .has(offset) },
      patch: { request in
        offset = min(offset + kept, request.fileOffset + request.contentLength)
        return offset == 20 << 20 ? .has(offset) : .status(502)
      })
  }

  @Test func aPatchThatIsLostEachTimeIsSentThreeTimes() throws {
    var server = failingServer(keeping: 0)
    #expect(server.run(try tus(.forever)) == postponed(FullSendLimitTests.unavailable, from: server.bootedAtSeconds))
    #expect(server.requests.filter { $0.method == "PATCH" }.count == 3)
  }

  @Test func aPatchOfWhichAPartIsKeptIsProgress() throws {
    var server = failingServer(keeping: 1 << 20)
    #expect(server.run(try tus(.forever)) == deliveredPlainly(size: 20 << 20))
    #expect(server.requests.filter { $0.method == "PATCH" }.count > 10)
  }

  /// The offset of an earlier process is no progress of this one.
  @Test func anOffsetThatWasThereBeforeIsNoProgress() throws {
    let now: Int64 = 1_800_000_000
    let earlier = try #require(FullSends(.refused, times: [now - 2, now - 1]))
    var same = failingServer(keeping: 0, from: 8 << 20)
    let error = FullSendLimitTests.unavailable
    #expect(same.run(try tus(.forever, offset: 8 << 20, fullSends: earlier)) == postponed(error, from: now - 2))
    #expect(same.requests.filter { $0.method == "PATCH" }.count == 1)
    var more = failingServer(keeping: 0, from: 9 << 20)
    #expect(more.run(try tus(.forever, offset: 8 << 20, fullSends: earlier)) == postponed(error, from: now))
    #expect(more.requests.filter { $0.method == "PATCH" }.count == 3)
  }

  private struct Unexpected: Error {}
}
