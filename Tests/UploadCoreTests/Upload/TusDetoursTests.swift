import Testing
import UploadCore

/// Something in front of a tus server refuses requests that the server would take.
struct TusDetoursTests {
  private let begin = ["OPTIONS /files/", "POST /files/", "save created"]
  private let trial = "POST /files/1"

  /// - Parameter patch: handles a PATCH, or a POST in its place.
  private func server(
    offset: @autoclosure @escaping () -> Int64, patch: @escaping (HTTPRequest) -> ScriptedServer.Reply
  ) -> ScriptedServer {
    ScriptedServer { request in
      switch request.method {
      case "OPTIONS": .offer
      case "HEAD": .has(offset())
      case "POST" where request.value("Upload-Offset") == nil: .created
      default: patch(request)
      }
    }
  }

  // MARK: PATCH

  @Test(arguments: [405, 501, 403])
  func aPatchThatIsRefusedGoesAsAPost(status: Int) throws {
    var offset: Int64 = 0
    var server = server(offset: offset) { request in
      if request.method == "PATCH" { return .status(status) }
      #expect(request.value("X-HTTP-Method-Override") == "PATCH" && request.value("Upload-Offset") == String(offset))
      offset += request.contentLength
      return .has(offset)
    }
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(
      server.log == begin + [
        "PATCH /files/1 0..<100", "save lastByteNext", "HEAD /files/1", trial, "save detours",
        "POST /files/1 0..<100",
      ])
    #expect(server.record.unfinished?.detours == TusDetours(overridesMethod: true))
    #expect(server.retries.isEmpty)

    // A later process knows it.
    var previous = try UploadPlan.PreviousState.at()
    previous.detours = try #require(server.record.unfinished?.detours)
    var later = ScriptedServer([.offer, .has(0), .has(100)])
    #expect(later.run(try .upload(to: .tusServer, previous: previous)) == deliveredPlainly())
    #expect(later.log.contains("POST /files/1 0..<100"))
  }

  /// Only a tus server says 204 with both fields.
  @Test(arguments: [
    ScriptedServer.Reply.status(204), .status(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "0"]),
    .status(204, ["Upload-Offset": "0"]), .status(204, ["Tus-Resumable": "1.0.0", "Upload-Offset": "1"]),
    .status(405), .status(404),
  ])
  func aPostThatIsNotProvedIsNotUsed(reply: ScriptedServer.Reply) throws {
    var server = server(offset: 0) { $0.method == "PATCH" ? .status(405) : reply }
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.tus(.refused(method: "PATCH", status: 405))))
    #expect(
      server.log == begin + ["PATCH /files/1 0..<100", "save lastByteNext", "HEAD /files/1", trial])
  }

  /// What is reported is why PATCH was refused.
  @Test func aRefusalOfTheCredentialsIsReportedAsSuch() throws {
    var server = server(offset: 0) { .status($0.method == "PATCH" ? 403 : 400) }
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.refused(status: 403, message: "")))
    #expect(server.log.last == trial)
  }

  @Test func anInterruptedTrialIsRepeated() throws {
    var replies: [ScriptedServer.Reply] = [.lost(.none), .has(0), .has(100)]
    var server = server(offset: 0) { $0.method == "PATCH" ? .status(405) : replies.removeFirst() }
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log.count { $0 == trial } == 2)
  }

  /// That of a request which the server still works on.
  @Test(arguments: [409, 423]) func aTrialThatMeetsALockIsRepeated(status: Int) throws {
    var replies: [ScriptedServer.Reply] = [.status(status, ["Tus-Resumable": "1.0.0"]), .has(0), .has(100)]
    var server = server(offset: 0) { $0.method == "PATCH" ? .status(403) : replies.removeFirst() }
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log.count { $0 == trial } == 2 && server.retries.count == 1)
  }

  @Test func whatTheServerItselfRefusesIsNotTriedAsAPost() throws {
    var server = server(offset: 0) { _ in .status(405, ["Tus-Resumable": "1.0.0"]) }
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.tus(.refused(method: "PATCH", status: 405))))
    #expect(!server.log.contains(trial))
  }

  // MARK: Content

  /// A filter that reads only the start of a request, as many do, or that knows a pattern.
  @Test(arguments: [400, 403, 406])
  func contentThatIsRefusedGoesInShortRequests(status: Int) throws {
    let size = 40 * mebibyte
    var offset: Int64 = 0
    var server = server(offset: offset) { request in
      if request.fileOffset >= 16 * mebibyte, request.fileOffset < 24 * mebibyte, request.contentLength > mebibyte {
        return .status(status)
      }
      offset = request.fileRange.upperBound
      return .has(offset)
    }
    #expect(server.run(try .upload(to: .tusServer, size: size)) == deliveredPlainly(size: size))
    let lengths = server.requests.filter { $0.method == "PATCH" }.map(\.contentLength)
    #expect(
      lengths == [8, 8, 8].map { $0 * mebibyte } + [Int64](repeating: 256 << 10, count: 32)
        + [8, 8].map { $0 * mebibyte })
    #expect(server.record.unfinished?.detours == TusDetours(splitEnd: 24 * mebibyte))
    #expect(server.retries.isEmpty)
  }

  @Test func contentThatIsRefusedInShortRequestsTooIsTheError() throws {
    let size = 40 * mebibyte
    var server = server(offset: 16 * mebibyte) { request in
      request.fileOffset < 16 * mebibyte ? .has(request.fileRange.upperBound) : .status(403)
    }
    let refused = ScriptedServer.End.failed(.tus(.contentRefused(offset: 16 * mebibyte, status: 403)))
    #expect(server.run(try .upload(to: .tusServer, size: size)) == refused)
    #expect(server.requests.suffix(2).map(\.contentLength) == [0, 256 << 10])

    // The long request is not repeated.
    var previous = try UploadPlan.PreviousState.at(offset: 16 * mebibyte)
    previous.detours = try #require(server.record.unfinished?.detours)
    var later = ScriptedServer([.offer, .has(16 * mebibyte), .status(403)])
    #expect(later.run(try .upload(to: .tusServer, size: size, previous: previous)) == refused)
    #expect(later.requests.last?.contentLength == 256 << 10)
  }

  /// Other credentials come first.
  @Test func withNewCredentialsTheContentIsNotSuspected() throws {
    var server = ScriptedServer([.offer, .created, .has(50), .status(403), .has(50), .has(100)])
    server.hasNewCredentials = true
    let machine = try UploadMachine.upload(to: .tusServer, policy: { $0.canRenewCredentials = true })
    #expect(server.run(machine) == deliveredPlainly())
    #expect(!server.log.contains("save detours"))
  }

  @Test func withALengthThatIsSetTheContentIsNotSentAgain() throws {
    var server = ScriptedServer([.offer, .created, .has(mebibyte), .status(403)])
    let machine = try UploadMachine.upload(to: .tusServer, size: gibibyte, configure: { $0.chunkLength = mebibyte })
    #expect(server.run(machine) == .failed(.tus(.contentRefused(offset: mebibyte, status: 403))))
  }

  // MARK: Time

  private func cut(_ status: Int? = nil) -> ScriptedServer.Reply {
    if let status { return .answer(Answer(status: status, sent: .partial, cutAfterMilliseconds: 60_000)) }
    return .interruption(
      Interruption(
        .connectionLost(.sending, peer: "hive", nil), sent: .partial, arrived: mebibyte,
        cutAfterMilliseconds: 60_000))
  }

  /// Traefik closes the connection; others respond.
  @Test(arguments: [nil, 408, 502, 504])
  func requestsThatTakeTooLongGetShorter(status: Int?) throws {
    let size = 16 * mebibyte
    var offset: Int64 = 0
    let reply = cut(status)
    var server = server(offset: offset) { request in
      guard request.contentLength <= 2 * mebibyte else { return reply }
      offset = request.fileRange.upperBound
      return .has(offset)
    }
    let machine = try UploadMachine.upload(
      to: .tusServer, size: size, policy: { $0.retries = RetryPolicy(.failures(5), maximumDelayMilliseconds: 8000) })
    #expect(server.run(machine) == deliveredPlainly(size: size))
    let lengths = server.requests.filter { $0.method == "PATCH" }.map { $0.contentLength / mebibyte }
    #expect(lengths == [8, 8, 4] + [Int64](repeating: 2, count: 8))
  }

  /// Other refusals in the middle of a request do not mean a limit.
  @Test func aRefusalInTheMiddleIsNoTimeLimit() throws {
    let refusal = ScriptedServer.Reply.answer(Answer(status: 429, sent: .partial, cutAfterMilliseconds: 60_000))
    var server = server(offset: 0) { _ in refusal }
    let end = server.run(try .upload(to: .tusServer, size: gibibyte))
    #expect(end == .failed(.refused(status: 429, message: "")))
    #expect(server.requests.filter { $0.method == "PATCH" }.allSatisfy { $0.contentLength == 8 * mebibyte })
  }

  @Test func withALengthThatIsSetTheLimitIsTheError() throws {
    let reply = cut()
    var server = server(offset: 0) { _ in reply }
    let machine = try UploadMachine.upload(to: .tusServer, size: gibibyte, configure: { $0.chunkLength = mebibyte })
    #expect(server.run(machine) == .failed(.tus(.requestsStopped(afterMilliseconds: 60_000))))
  }

  @Test(arguments: [nil, 408])
  func aFormThatTakesTooLongGoesOverTus(status: Int?) throws {
    let form = cut(status)
    var server = ScriptedServer([
      form, form, .offer, .created, .has(100), .status(201, content: GigHive.created),
    ])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect(
      server.requests.prefix(3).map(\.method) == ["POST", "POST", "OPTIONS"] && server.log.contains("over tus"))
  }

  /// Then it is tried as a form again.
  @Test func whereThereIsNoTusItStaysAForm() throws {
    let form = cut()
    var server = ScriptedServer([form, form, .status(404), .status(201, content: GigHive.created)])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect(server.requests.map(\.method) == ["POST", "POST", "OPTIONS", "POST"])
  }

  // MARK: The upload's address

  private let elsewhere = "http://tusd:1080/files/1"
  private let unknownName = UploadError.noSuchName(host: "tusd")

  private func has(_ offset: Int64, of length: Int64 = 100) -> ScriptedServer.Reply {
    .status(
      200, ["Tus-Resumable": "1.0.0", "Upload-Offset": String(offset), "Upload-Length": String(length)])
  }

  /// A server at `http://hive` that says that its uploads are at `http://tusd:1080`.
  private func proxied(
    there: @escaping () -> ScriptedServer.Reply, head: @escaping () -> ScriptedServer.Reply
  ) -> ScriptedServer {
    ScriptedServer { [elsewhere] request in
      if request.target.host == "tusd" { return there() }
      return switch request.method {
      case "OPTIONS": .offer
      case "POST": .status(201, ["Tus-Resumable": "1.0.0", "Location": elsewhere])
      case "HEAD": head()
      default: .has(request.fileRange.upperBound)
      }
    }
  }

  private func unreachable(_ error: UploadError) -> ScriptedServer.Reply { .interruption(Interruption(error)) }

  private func upload(_ previous: UploadPlan.PreviousState = UploadPlan.PreviousState()) throws -> UploadMachine {
    try .upload(to: .tus(TargetURI("http://hive/files/")), previous: previous)
  }

  private let created = ["OPTIONS http://hive/files/", "POST http://hive/files/", "save created"]

  @Test func whereNobodyRespondsTheEndpointIsAsked() throws {
    let refused = UploadError.notConnected(host: "tusd", address: "10.0.0.1:1080", SystemError(code: 111))
    let slow = UploadError.timedOut(.connecting, peer: "tusd", limitMilliseconds: 1)
    for error in [unknownName, refused, slow] {
      var server = proxied(there: { unreachable(error) }, head: { has(0) })
      #expect(server.run(try upload()) == deliveredPlainly())
      #expect(
        server.log == created + [
          "PATCH " + elsewhere + " 0..<100", "HEAD http://hive/files/1", "save moved",
          "PATCH http://hive/files/1 0..<100", "save lastByteNext",
        ])
      #expect(server.record.unfinished?.remote?.url == "http://hive/files/1" && server.retries.isEmpty)
    }
  }

  /// The record keeps what it says of the upload.
  @Test func anUploadOfAnEarlierProcessIsFoundToo() throws {
    let previous = try UploadPlan.PreviousState.at(elsewhere, lastByteMayBeSent: true)
    var server = proxied(there: { unreachable(unknownName) }, head: { has(60) })
    #expect(server.run(try upload(previous)) == deliveredPlainly(resumedFrom: 60))
    #expect(
      server.log == [
        created[0], "HEAD " + elsewhere, "HEAD http://hive/files/1", "save moved",
        "PATCH http://hive/files/1 60..<100",
      ])
  }

  @Test func aStrangerAtTheAddressLeadsBackToo() throws {
    var server = proxied(there: { .status(404) }, head: { has(0) })
    #expect(server.run(try upload()) == deliveredPlainly())
    #expect(server.log.contains("save moved"))
  }

  /// The endpoint is asked once.
  @Test(arguments: [
    ScriptedServer.Reply.status(404), .status(404, ["Tus-Resumable": "1.0.0"]), .status(200), .has(0),
    .status(200, ["Upload-Offset": "0", "Upload-Length": "100"]),
    .status(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Upload-Length": "101"]),
  ])
  func whatProvesNothingChangesNothing(reply: ScriptedServer.Reply) throws {
    var server = proxied(there: { unreachable(unknownName) }, head: { reply })
    #expect(server.run(try upload()) == .failed(unknownName))
    #expect(
      server.log == created + ["PATCH " + elsewhere + " 0..<100", "HEAD http://hive/files/1", "HEAD " + elsewhere])
  }

  /// Without a network, the endpoint says nothing, so it is asked again.
  @Test func anEndpointThatDoesNotAnswerIsAskedAgain() throws {
    let lost = UploadError.notConnected(host: "hive", address: "10.0.0.2:80", SystemError(code: 101))
    var heads = [unreachable(lost), has(0)]
    var server = proxied(there: { unreachable(unknownName) }, head: { heads.removeFirst() })
    #expect(server.run(try upload()) == deliveredPlainly())
    #expect(server.retries.map { $0.error } == [lost])
  }

  /// Where TLS ends at a proxy, the upload is never asked for without TLS.
  @Test func anInternalAddressBehindTLSIsTriedAtTheEndpoint() throws {
    let location = ScriptedServer.Reply.status(201, ["Tus-Resumable": "1.0.0", "Location": elsewhere])
    var server = ScriptedServer([.offer, location, has(0), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log == begin + ["HEAD /files/1", "PATCH /files/1 0..<100", "save lastByteNext"])

    var other = ScriptedServer([.offer, location, .status(404)])
    #expect(other.run(try .upload(to: .tusServer)) == .failed(.tus(.unusableLocation(elsewhere))))
    #expect(other.log == begin + ["HEAD /files/1", "save forgotten"])
  }
}
