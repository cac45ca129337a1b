import Testing
import UploadCore

/// How long uploads are retried, in virtual time.
struct PatienceTests {
  private static let hour: Int64 = 3_600_000
  private static let refused = UploadError.notConnected(host: "hive", address: "::1", SystemError(code: 111))

  private func machine(
    _ limit: RetryLimit, to destination: Destination? = nil, size: Int64 = 100,
    previous: UploadPlan.PreviousState = UploadPlan.PreviousState(), configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> UploadMachine {
    try .upload(
      to: destination ?? .gigHive, size: size, previous: previous,
      policy: { $0.retries = RetryPolicy(limit, maximumDelayMilliseconds: 60_000) }, configure: configure)
  }

  /// A server that cannot be reached for the first `count` attempts.
  private func outage(of count: Int, _ error: UploadError = refused) -> ScriptedServer {
    var left = count
    return ScriptedServer { _ in
      left -= 1
      return left >= 0 ? .interruption(Interruption(error)) : .status(201, content: GigHive.created)
    }
  }

  // MARK: How long

  @Test func anOutageOfThreeDaysIsWaitedOut() throws {
    var server = outage(of: 10_000)
    #expect(server.run(try machine(.forever)) == GigHive.delivered())
    #expect(server.milliseconds > 72 * PatienceTests.hour)
    #expect(server.retries.allSatisfy { $0.delayMilliseconds <= 60_000 && $0.remainingMilliseconds == nil })
  }

  @Test func anHourWithoutProgressIsTheEndAndNotLess() throws {
    var server = outage(of: .max)
    #expect(server.run(try machine(.time(milliseconds: PatienceTests.hour))) == .failed(PatienceTests.refused))
    #expect(server.milliseconds == PatienceTests.hour)
    #expect(server.retries.first?.remainingMilliseconds == PatienceTests.hour)
    #expect(server.retries.count > 60 && server.retries.allSatisfy { ($0.remainingMilliseconds ?? 0) > 0 })
  }

  @Test func progressRestartsTheTime() throws {
    // One byte each half hour: 100 bytes in two days.
    var (offset, asked) = (Int64(0), 0)
    var server = ScriptedServer.tus(
      head: {
        asked += 1
        return asked % 60 == 0 ? .has(offset) : .interruption(Interruption(PatienceTests.refused))
      },
      patch: { _ in
        offset += 1
        return offset == 100 ? .has(100) : .lost(.partial, arrived: 1)
      })
    let end = server.run(try machine(.time(milliseconds: PatienceTests.hour), to: .tusServer))
    #expect(end == deliveredPlainly())
    #expect(server.milliseconds > 24 * PatienceTests.hour)
  }

  @Test func theServersWishForMoreTimeThanIsLeftEndsTheUpload() throws {
    let busy = UploadError.refused(status: 503, message: "")
    var server = ScriptedServer([.status(503, ["Retry-After": "61"], sent: .none)])
    #expect(
      server.run(try machine(.time(milliseconds: 60_000)))
        == .failed(.postponed(busy, untilSeconds: server.bootedAtSeconds + 61, .serverAsked)))
    var patient = ScriptedServer([
      .status(503, ["Retry-After": "61"], sent: .none), .status(201, content: GigHive.created),
    ])
    #expect(patient.run(try machine(.forever)) == GigHive.delivered())
    #expect(patient.milliseconds >= 61_000)
  }

  // MARK: What

  private static let login = ScriptedServer.Reply.status(200, content: GigHive.page, sent: .partial)
  private static let portal = ScriptedServer.Reply.status(302, ["Location": "http://portal.example/"], sent: .none)

  @Test(
    arguments: [
      .interruption(Interruption(.noSuchName(host: "hive"))), .status(511, sent: .none), portal, login,
      .status(200, content: GigHive.page), .status(501, sent: .none), .status(505, sent: .none),
      .interruption(Interruption(.proxyRefused(status: 501, proxy: "p:1", hadCredentials: false))),
      .interruption(Interruption(.tls(.certificate(code: 9, reason: ""), host: "hive"))),
    ] as [ScriptedServer.Reply])
  func whatOftenPassesIsWaitedOutOnlyWithTime(reply: ScriptedServer.Reply) throws {
    for limit in [RetryLimit.forever, .time(milliseconds: 1000)] {
      var server = ScriptedServer([reply, .status(201, content: GigHive.created)])
      #expect(server.run(try machine(limit)) == GigHive.delivered())
    }
    // 511 is retried a few times in any case.
    if case .answer(let answer) = reply, answer.status == 511 { return }
    var server = ScriptedServer([reply])
    #expect(server.run(try machine(.failures(5)))?.isFailure == true)
  }

  @Test(
    arguments: [
      .status(400, sent: .none), .status(401, sent: .none), .status(403, sent: .none), .status(422, sent: .none),
      .status(415, sent: .none), .status(302, ["Location": "https://hive/elsewhere"], sent: .none),
      .status(301, ["Location": "/elsewhere"], sent: .none),
      .interruption(Interruption(.tls(.pinMismatch(actual: ""), host: "hive"))),
      .interruption(Interruption(.tls(.certificate(code: 18, reason: ""), host: "hive"))),
      .interruption(Interruption(.tls(.certificate(code: 10, reason: ""), host: "hive"))),
    ] as [ScriptedServer.Reply])
  func whatStaysIsNotWaitedFor(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer([reply])
    #expect(server.run(try machine(.forever))?.isFailure == true)
    #expect(server.retries.isEmpty)
  }

  /// A certificate seems to be expired, too, if the clock shows an early time in its year.
  @Test func anExpiredCertificateIsWaitedOutIfTheClockIsWrong() throws {
    let expired = UploadError.tls(.certificate(code: 10, reason: ""), host: "hive")
    var server = outage(of: 3, expired)
    server.bootedAtSeconds = 0
    #expect(server.run(try machine(.forever)) == GigHive.delivered())
    #expect(server.retries.count == 3)
  }

  @Test func whatMayBeStoredIsNotSentAgain() throws {
    var server = ScriptedServer([.status(502)])
    let error = UploadError.refused(status: 502, message: "")
    #expect(server.run(try machine(.forever, to: .plain)) == .failed(.mayBeStored(error)))
  }

  @Test func aPortalsRedirectIsForgotten() throws {
    var server = ScriptedServer([
      .status(307, ["Location": "https://portal.example/"], sent: .none), .status(200, content: GigHive.page),
      .status(201, content: GigHive.created),
    ])
    #expect(server.run(try machine(.forever)) == GigHive.delivered())
    #expect(server.log.filter { $0.hasPrefix("POST") }.map { $0.contains("portal") } == [false, true, false])
  }

  /// Its login page accepts everything.
  @Test func aFormThatAPortalAcceptedIsNotStored() throws {
    let page = GigHive.loginPage
    var server = ScriptedServer([
      .status(308, ["Location": "https://portal.example/login"], sent: .none), .status(200, content: page),
    ])
    let machine = try UploadMachine.upload(to: .plain)
    #expect(
      server.run(machine)
        == .failed(.redirectionRefused(location: "https://portal.example/login", .loginPage)))
    // The server's own page may follow a form that it has stored.
    var own = ScriptedServer([.status(308, ["Location": "/upload/2"], sent: .none), .status(200, content: page)])
    #expect(own.run(try .upload(to: .plain)) == .failed(.mayBeStored(.unconfirmed(status: 200))))
  }

  /// A recording that is large enough for tus goes over tus once the portal is gone.
  @Test func aPortalDoesNotTurnAnUploadIntoAForm() throws {
    var server = ScriptedServer { request in
      switch request.method {
      case "OPTIONS": .status(200, content: GigHive.page)
      default: .status(200, content: GigHive.page, sent: .none)
      }
    }
    let limit = RetryLimit.time(milliseconds: 60_000)
    #expect(server.run(try machine(limit, configure: { $0.tusThreshold = 50 }))?.isFailure == true)
    #expect(server.requests.filter { $0.method == "OPTIONS" }.count > 2)
  }
}
