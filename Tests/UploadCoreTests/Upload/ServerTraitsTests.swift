import Testing
import UploadCore

/// Behaviour common to all uploads: expectations, redirects, credentials, retries and stale connections.
struct ServerTraitsTests {
  private let post = "POST /upload 0..<100"
  private let lost = UploadError.connectionLost(.awaitingConfirmation, peer: "hive", nil)

  // MARK: Expect (RFC 9110, 10.1.1)

  @Test func aRefusedExpectationIsNotRepeated() throws {
    var server = ScriptedServer([.status(417, sent: .none), .status(200)])
    let size: Int64 = 2 << 20
    #expect(server.run(try .upload(to: .plain, size: size)) == deliveredPlainly(size: size))
    #expect(server.requests.map(\.mayExpectContinue) == [true, false])
    #expect(server.retries.isEmpty)
  }

  @Test func a417ToARequestWithoutExpectationIsARefusal() throws {
    var server = ScriptedServer([.status(417)])
    #expect(server.run(try .upload(to: .plain)) == .failed(.refused(status: 417, message: "")))
  }

  // MARK: Redirects (RFC 9110, 15.4)

  @Test(arguments: [307, 308])
  func aRedirectIsFollowedWithTheSameRequest(status: Int) throws {
    var server = ScriptedServer([.status(status, ["Location": "/new"]), .status(200)])
    #expect(server.run(try .upload(to: .plain)) == deliveredPlainly())
    #expect(server.log == [post, "save mayBeStored", "save notStored", "POST /new 0..<100", "save mayBeStored"])
    #expect(server.requests[0].body == server.requests[1].body && server.retries.isEmpty)
  }

  @Test func aRequestWithASecretInItsContentIsNotSentToAnotherOrigin() throws {
    var elsewhere = ScriptedServer([.status(307, ["Location": "https://other/delete"])])
    #expect(
      elsewhere.run(try .delete()) == .failed(.redirected(status: 307, location: "https://other/delete")))
    var here = ScriptedServer([
      .status(307, ["Location": "/delete"]), .status(200, content: #"{"success":true,"deleted_count":1}"#),
    ])
    #expect(here.run(try .delete()) == .finished(.deleted(wasGone: false)))
  }

  /// Each response in between would reset the count, but nothing is ever stored.
  @Test func aServerThatRedirectsEachPatchElsewhereIsNotFollowedForever() throws {
    var count = 0
    var server = ScriptedServer.tus(
      head: { .has(0) },
      patch: { _ in
        count += 1
        return .status(307, ["Location": "/\(count)"])
      })
    let end = server.run(try .upload(to: .tusServer, previous: .at()))
    #expect(end == .failed(.redirectionRefused(location: "/51", .tooMany(limit: 50))))
  }

  // MARK: Credentials

  private func renewing(_ policy: inout UploadPolicy) { policy.canRenewCredentials = true }

  /// Until something is accepted, nothing shows that the credentials were ever valid.
  @Test func credentialsThatWereNeverGoodAreNotRenewed() throws {
    var server = ScriptedServer([.status(401)])
    server.hasNewCredentials = true
    #expect(
      server.run(try .upload(to: .tusServer, policy: renewing)) == .failed(.refused(status: 401, message: "")))
  }

  @Test func credentialsThatExpireAreRenewedOnce() throws {
    var server = ScriptedServer([
      .status(204, ["Tus-Version": "1.0.0"]), .status(201, ["Location": "1"]), .status(401),
      .status(200, ["Upload-Offset": "0"]), .status(401),
    ])
    server.hasNewCredentials = true
    #expect(
      server.run(try .upload(to: .tusServer, policy: renewing)) == .failed(.refused(status: 401, message: "")))
    #expect(
      server.log.filter { !$0.hasPrefix("save") } == [
        "OPTIONS /files/", "POST /files/", "PATCH /files/1 0..<100", "renew credentials", "HEAD /files/1",
        "PATCH /files/1 0..<100",
      ])
    #expect(server.retries.isEmpty)
  }

  /// A token that lasts for less than an upload.
  @Test(arguments: [401, 403])
  func afterWhatIsStoredCredentialsAreRenewedAgain(status: Int) throws {
    let refusal = ScriptedServer.Reply.status(status)
    var server = ScriptedServer([
      .offer, .created, refusal, .has(0), .has(50), refusal, .has(50), .has(90), refusal, .has(90), .has(100),
    ])
    server.hasNewCredentials = true
    #expect(server.run(try .upload(to: .tusServer, policy: renewing)) == deliveredPlainly())
    #expect(server.log.count { $0 == "renew credentials" } == 3)
    #expect(server.retries.isEmpty)
  }

  /// Not every 403 is about the credentials.
  @Test func a403WithTheSameCredentialsIsFinal() throws {
    var server = ScriptedServer([.offer, .status(403)])
    #expect(
      server.run(try .upload(to: .tusServer, policy: renewing)) == .failed(.refused(status: 403, message: "")))
    #expect(server.log == ["OPTIONS /files/", "POST /files/", "renew credentials"])
  }

  @Test func withoutOtherCredentialsTheRefusalIsFinal() throws {
    var server = ScriptedServer([.status(204, ["Tus-Version": "1.0.0"]), .status(401)])
    #expect(
      server.run(try .upload(to: .tusServer, policy: renewing)) == .failed(.refused(status: 401, message: "")))
    #expect(server.log.last == "renew credentials")
  }

  /// GigHive stores nothing of a form that it refuses. Other endpoints might.
  @Test func aFormIsSentAgainWithOtherCredentialsOnlyWhereNothingIsStored() throws {
    var server = ScriptedServer([.status(401)])
    server.hasNewCredentials = true
    #expect(
      server.run(try .upload(to: .plain, policy: renewing)) == .failed(.refused(status: 401, message: "")))
    #expect(server.log == [post, "save mayBeStored"])
  }

  // MARK: Retries

  @Test func triesAreCountedAndPausesGrow() throws {
    var server = ScriptedServer([.status(503), .lost(), .status(500)])
    let machine = try UploadMachine.upload(to: .gigHive)
    #expect(server.run(machine) == .failed(.refused(status: 500, message: "")))
    #expect(server.retries.map(\.failures) == [1, 2])
    #expect(server.retries.map(\.error) == [.refused(status: 503, message: ""), lost])
    #expect(server.retries[0].delayMilliseconds <= 1000 && server.retries[1].delayMilliseconds <= 4000)
    #expect(server.milliseconds == server.retries.reduce(0) { $0 + $1.delayMilliseconds })
  }

  @Test func progressLetsTheTriesBeginAgain() throws {
    var offset: Int64 = 0
    var server = ScriptedServer.tus(
      head: { .has(offset) },
      patch: { _ in
        offset += 10
        return offset < 100 ? .lost(.partial, arrived: 10) : .has(100)
      })
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.retries.count == 9 && server.retries.allSatisfy { $0.failures == 1 })
  }

  @Test func theTimeForAllOfItEndsAnUpload() throws {
    var server = ScriptedServer { _ in .status(503, ["Retry-After": "3"]) }
    let machine = try UploadMachine.upload(
      to: .gigHive,
      policy: {
        $0.totalMilliseconds = 10_000
        $0.retries = RetryPolicy(.failures(1000), maximumDelayMilliseconds: 1000)
      })
    #expect(
      server.run(machine)
        == .failed(.timedOut(.delivering, peer: "https://hive", limitMilliseconds: 10_000)))
    #expect(server.requests.count == 4 || server.requests.count == 3)
  }

  // MARK: Stale connections

  private static func stale(hasSentLittle: Bool = true) -> ScriptedServer.Reply {
    .lost(hasSentLittle ? .none : .partial, staleness: .used(hasSentLittle: hasSentLittle))
  }

  /// The server announced that it closes the connection, but a request was pipelined before that was read.
  private static let announced = ScriptedServer.Reply.lost(.none, staleness: .announced)
  private static let timeOut = ScriptedServer.Reply.interruption(
    Interruption(
      .timedOut(.awaitingAnswer, peer: "hive", limitMilliseconds: 1), staleness: .used(hasSentLittle: true)))

  /// The server may close an idle connection just when a request is sent.
  @Test func aStaleConnectionIsNoFailureAndAFreshOneFollows() throws {
    var server = ScriptedServer([ServerTraitsTests.stale(), .status(200)])
    #expect(server.run(try .upload(to: .plain)) == deliveredPlainly())
    #expect(server.choices == [.reusedIfPromised, .fresh] && server.retries.isEmpty)
  }

  @Test func fromThenOnEveryRequestHasAFreshConnection() throws {
    var server = ScriptedServer([
      .status(204, ["Tus-Version": "1.0.0"]), ServerTraitsTests.stale(), .status(201, ["Location": "1"]),
      .status(204, ["Upload-Offset": "100"]),
    ])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.choices == [.reused, .reused, .fresh, .fresh] && server.retries.isEmpty)
  }

  /// How a form's connections end before it is stored, which connections it goes over, and how many failures that counts as.
  @Test(
    arguments: [
      // That is tolerated once.
      ([stale(), stale()], [.reused, .fresh, .fresh], 1),
      // Much was sent, so the network may have broken, or the server may close at any time.
      ([stale(hasSentLittle: false), stale(hasSentLittle: false)], [.reused, .reused, .fresh], 1),
      // No reason to avoid kept connections.
      ([announced, announced], [.reused, .reused, .reused], 0), ([timeOut], [.reused, .reused], 1),
    ] as [([ScriptedServer.Reply], [ConnectionChoice], Int)])
  func aConnectionThatEndsUnderAForm(ends: [ScriptedServer.Reply], choices: [ConnectionChoice], failures: Int) throws {
    var server = ScriptedServer(ends + [.status(201, content: GigHive.created)])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect(server.retries.count == failures && server.choices == choices)
  }

  /// The response to a HEAD in between is not progress by itself.
  @Test(arguments: [false, true])
  func aSecondLossWithoutProgressEndsTheUseOfKeptConnections(hasProgress: Bool) throws {
    let stale = ServerTraitsTests.stale(hasSentLittle: false)
    var server = ScriptedServer([
      .offer, .created, stale, .has(hasProgress ? 10 : 0), stale, .has(hasProgress ? 20 : 0), .has(100),
    ])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.retries.count == (hasProgress ? 2 : 1))
    #expect(server.choices.map { $0 == .reused } == [true, true, true, true, true, hasProgress, hasProgress])
  }

  @Test func theServersWishForAPauseIsGranted() throws {
    var server = ScriptedServer([.status(503, ["Retry-After": "30"]), .status(201, content: GigHive.created)])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect((30_000...31_000).contains(server.retries[0].delayMilliseconds))
  }

  /// The question about the offset, which shows that the 409 was about a lock, does not end the pause.
  @Test func aLocksWishForAPauseIsGranted() throws {
    var server = ScriptedServer([
      .offer, .has(0), .status(409, ["Retry-After": "8"]), .has(0), .has(0), .has(100),
    ])
    _ = server.run(try .upload(to: .tusServer, previous: .at()))
    #expect(server.retries.count == 1 && (8000...9000).contains(server.retries[0].delayMilliseconds))
  }

  @Test(arguments: [400, 403, 404, 422, 501])
  func aPermanentRefusalIsNotRetried(status: Int) throws {
    var server = ScriptedServer([.status(status)])
    #expect(server.run(try .upload(to: .gigHive)) == .failed(.refused(status: status, message: "")))
  }
}
