import Testing

@testable import Uploader

/// Whole tus uploads over the loopback interface.
struct TusUploadsTests {
  private let mebibyte = 1 << 20

  private func lines(_ requests: [LoopbackServer.Request]) -> [String] { requests.map { $0.line } }

  // MARK: Without trouble

  @Test func anUploadIsAskedForCreatedAndSentOverOneConnection() throws {
    let bench = UploadBench(length: 300_000)
    let server = LoopbackServer([[TusScript.offer(), TusScript.created, TusScript.took(300_000)]])
    var request = try bench.tus(server)
    request.extraFields = [FormField("label", "Set 1")]
    let delivery = try bench.upload(request)[0]
    #expect(delivery.file.size == 300_000 && bench.retries.isEmpty)
    let requests = server.finish()
    #expect(lines(requests) == ["OPTIONS /files/", "POST /files/", "PATCH /files/1"])
    #expect(requests[0].value("Tus-Resumable") == nil && requests[1].value("Tus-Resumable") == "1.0.0")
    #expect(requests[1].value("Upload-Length") == "300000")
    #expect(
      requests[1].value("Upload-Metadata") == "filename c2V0Lndhdg==,filetype YXVkaW8vd2F2,label U2V0IDE=")
    #expect(requests[2].value("Content-Type") == "application/offset+octet-stream" && requests[2].offset == 0)
    #expect(sha256(requests[2].body) == sha256(bench.content))
  }

  @Test func aLongFileGoesInSeveralRequests() throws {
    let length = 20 * mebibyte
    let bench = UploadBench(length: length)
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created]
        + [8, 16, 20].map { TusScript.took($0 * mebibyte) }
    ])
    var request = try bench.tus(server)
    request.chunkLength = Int64(8 * mebibyte)
    try bench.upload(request)
    let patches = server.finish().dropFirst(2)
    #expect(patches.map { $0.offset } == [0, 8 * mebibyte, 16 * mebibyte])
    #expect(sha256(patches.flatMap { $0.body }) == sha256(bench.content))
  }

  @Test func theFirstBytesGoAlongWithTheCreation() throws {
    let bench = UploadBench(length: 300_000)
    let created = "HTTP/1.1 201 Created\r\nLocation: /files/1\r\nUpload-Offset: 299999\r\nContent-Length: 0\r\n\r\n"
    let server = LoopbackServer([
      [TusScript.offer("creation,creation-with-upload"), .answer(created), TusScript.took(300_000)]
    ])
    try bench.upload(try bench.tus(server))
    let requests = server.finish()
    // The last byte is not among them: nobody must lose a whole upload together with the answer.
    #expect(requests.count == 3 && requests[1].body.count == 299_999 && requests[2].offset == 299_999)
    #expect(sha256(requests.flatMap { $0.body }) == sha256(bench.content))
  }

  @Test func aServerThatChecksEachRequestIsToldItsChecksum() throws {
    let bench = UploadBench(length: 300_000)
    let server = LoopbackServer([
      [
        .answer(
          "HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: creation,checksum\r\n"
            + "Tus-Checksum-Algorithm: sha1,sha256\r\n\r\n"),
        TusScript.created, TusScript.took(200_000), TusScript.took(300_000),
      ]
    ])
    var request = try bench.tus(server)
    request.chunkLength = 200_000
    try bench.upload(request)
    let patches = server.finish().dropFirst(2)
    for (patch, range) in zip(patches, [0..<200_000, 200_000..<300_000]) {
      #expect(sha256(patch.body) == sha256(Array(bench.content[range])))
      let digest = Base64.encode(hex(sha256(Array(bench.content[range]))))
      #expect(patch.value("Upload-Checksum") == "sha256 " + digest)
    }
  }

  @Test func theMethodCanBeOverridden() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([[TusScript.offer(), TusScript.created, TusScript.took(300)]])
    var request = try bench.tus(server)
    request.overridesMethod = true
    try bench.upload(request)
    let last = server.finish().last
    #expect(last?.line == "POST /files/1" && last?.value("X-HTTP-Method-Override") == "PATCH")
  }

  /// Some answer no OPTIONS, and speak tus all the same.
  @Test(arguments: [200, 404, 405])
  func aServerThatMustSpeakTusIsAskedAlthoughItOffersNothing(status: Int) throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([[.answer(TusScript.refusal(status)), TusScript.created, TusScript.took(300)]])
    try bench.upload(try bench.tus(server))
    #expect(lines(server.finish()) == ["OPTIONS /files/", "POST /files/", "PATCH /files/1"])
  }

  // MARK: Interruptions

  /// Uploads to a server with troubles.
  /// - Returns: what came there, and why the upload failed if it did.
  private func upload(
    _ bench: UploadBench, cuts: [TusStub.Cut]
  ) throws -> (requests: [LoopbackServer.Request], error: UploadError?) {
    let stub = TusStub(length: bench.content.count, cuts: cuts)
    let server = LoopbackServer { stub.answer($0) }
    var failure: UploadError?
    do { try bench.upload(try bench.tus(server)) } catch let error as UploadError { failure = error }
    return (server.finish(), failure)
  }

  @Test(arguments: [(0, 0), (150_000, 0), (150_000, 100_000), (300_000, 300_000)])
  func aConnectionThatBreaksInPatchIsGoneOnWithFromTheServersOffset(sent: Int, kept: Int) throws {
    let bench = UploadBench(length: 300_000)
    let (requests, error) = try upload(bench, cuts: [TusStub.Cut(after: sent, kept: kept)])
    try #require(error == nil && requests.count >= 4)
    #expect(lines(requests)[3] == "HEAD /files/1" && requests.count == (kept < 300_000 ? 5 : 4))
    if kept < 300_000 {
      #expect(requests[4].line == "PATCH /files/1" && requests[4].offset == kept)
      #expect(sha256(requests[4].body) == sha256(Array(bench.content[kept...])))
    }
  }

  @Test func triesWithoutProgressAreCounted() throws {
    let bench = UploadBench(length: 300_000)
    bench.configuration.retries = 2
    let cuts = [TusStub.Cut](repeating: TusStub.Cut(after: 1000, kept: 0), count: 20)
    let error = try upload(bench, cuts: cuts).error
    #expect({ if case .connectionLost = error { true } else { false } }())
    #expect(bench.retries.map { $0.failures } == [1, 2])
    #expect(bench.retries.allSatisfy { $0.delayMilliseconds >= 0 && $0.delayMilliseconds <= 1 })
    #expect(bench.retries.allSatisfy { if case .connectionLost = $0.error { true } else { false } })
  }

  @Test func progressLetsTheTriesBeginAnew() throws {
    let bench = UploadBench(length: 300_000)
    bench.configuration.retries = 2
    // Twice at each place: the first break can be taken for that of a connection that was kept for too long.
    let cuts = (0..<10).map { TusStub.Cut(after: 60_000, kept: $0 % 2 == 0 ? 0 : 50_000) }
    let (requests, error) = try upload(bench, cuts: cuts)
    #expect(error == nil && bench.retries.count >= 5 && bench.retries.allSatisfy { $0.failures <= 2 })
    #expect(sha256(requests.last?.body ?? []) == sha256(Array(bench.content[250_000...])))
  }

  @Test func theServersWishIsObeyedBeforeTheNextTry() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([
      [
        TusScript.offer(), TusScript.created, .answer(TusScript.refusal(503, "Retry-After: 1\r\n")),
        TusScript.located(0, of: 300), TusScript.took(300),
      ]
    ])
    try bench.upload(try bench.tus(server))
    #expect(bench.retries.count == 1)
    #expect(bench.retries.allSatisfy { $0.delayMilliseconds >= 1000 && $0.delayMilliseconds < 2000 })
    #expect(server.finish().count == 5)
  }

  @Test(arguments: [423, 460, 429, 500, 502])
  func aPatchThatIsRefusedForNowIsTriedAgainFromTheServersOffset(status: Int) throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([
      [
        TusScript.offer(), TusScript.created, .answer(TusScript.refusal(status)), TusScript.located(100, of: 300),
        TusScript.took(300),
      ]
    ])
    try bench.upload(try bench.tus(server))
    let requests = server.finish()
    #expect(requests.last?.offset == 100 && bench.retries.count == 1)
  }

  @Test(arguments: [400, 403, 415])
  func aPatchThatIsRefusedForGoodIsTheEnd(status: Int) throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([[TusScript.offer(), TusScript.created, .answer(TusScript.refusal(status))]])
    #expect(throws: UploadError.refused(status: status, message: "no")) { try bench.upload(try bench.tus(server)) }
    #expect(bench.retries.isEmpty && server.finish().count == 3)
  }

  @Test func aServerThatForgotTheUploadGetsANewOne() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([
      [
        TusScript.offer(), TusScript.created, .answer(TusScript.refusal(404, TusScript.proof)), TusScript.created,
        TusScript.took(200), TusScript.took(300),
      ]
    ])
    var request = try bench.tus(server)
    request.chunkLength = 200
    try bench.upload(request)
    #expect(bench.retries.map { $0.error } == [.uploadLost])
    #expect(lines(server.finish()).suffix(3) == ["POST /files/", "PATCH /files/1", "PATCH /files/1"])
  }

  /// A plain server may remove an upload that is whole, and then looks as if it never had it.
  @Test func aServerThatForgotTheUploadBehindItsLastByteMayHaveStoredIt() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, .interrupt(afterBody: 300)],
      [.answer(TusScript.refusal(404, TusScript.proof))],
    ])
    #expect(throws: UploadError.mayBeStored(.uploadLost)) { try bench.upload(try bench.tus(server)) }
    #expect(lines(server.finish()) == ["OPTIONS /files/", "POST /files/", "PATCH /files/1", "HEAD /files/1"])
  }

  /// Somebody says that the upload is gone. A new one is created to see whether the server is there, and is used once the old
  /// one is looked for in vain.
  @Test func a404OfSomebodyIsBelievedOnceTheServerHasShownItself() throws {
    let bench = UploadBench(length: 300)
    let replaced = "HTTP/1.1 201 Created\r\n\(TusScript.proof)Location: /files/2\r\nContent-Length: 0\r\n\r\n"
    let page = TusScript.Action.answer(TusScript.refusal(404))
    let absent = TusScript.Action.answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    let server = LoopbackServer([
      [
        TusScript.offer(), TusScript.created, page, absent, .answer(replaced), TusScript.located(0, of: 300), absent,
        TusScript.located(0, of: 300), TusScript.took(200), TusScript.took(300),
      ]
    ])
    var request = try bench.tus(server)
    request.chunkLength = 200
    try bench.upload(request)
    #expect(
      lines(server.finish()).dropFirst(2) == [
        "PATCH /files/1", "HEAD /files/1", "POST /files/", "HEAD /files/2", "HEAD /files/1", "HEAD /files/2",
        "PATCH /files/2", "PATCH /files/2",
      ])
    // The pause comes first. It was this process that had created the upload: that could go on like this.
    #expect(bench.retries.map { $0.error } == [.notFromServer(status: 404), .uploadLost])
  }

  @Test func aRequestThatIsTooLargeIsHalved() throws {
    let bench = UploadBench(length: 300_000)
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, .answerHead(TusScript.refusal(413, "Connection: close\r\n"))],
      [TusScript.located(0, of: 300_000), TusScript.took(150_000), TusScript.took(300_000)],
    ])
    try bench.upload(try bench.tus(server))
    #expect(server.finish().suffix(2).map { $0.body.count } == [150_000, 150_000] && bench.retries.isEmpty)
  }

  /// The server is back and forth between two offsets, and takes neither: that is waited for like a lock, and not for ever.
  @Test func endlessDisagreementEnds() throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 2
    nonisolated(unsafe) var isAhead = false
    let server = LoopbackServer { request in
      if request.line.hasPrefix("OPTIONS") { return TusScript.offer() }
      if request.line.hasPrefix("POST") { return TusScript.created }
      if request.line.hasPrefix("PATCH") { return .answer(TusScript.refusal(409)) }
      isAhead.toggle()
      return TusScript.located(isAhead ? 100 : 0, of: 300)
    }
    #expect(throws: UploadError.tus(.locked)) { try bench.upload(try bench.tus(server)) }
    #expect(bench.retries.map { $0.error } == [.tus(.locked), .tus(.locked)])
    #expect(server.finish().filter { $0.line.hasPrefix("PATCH") }.count <= Limits.disagreementCount + 3)
  }

  /// 409 at the offset that the server itself names: it holds a lock, and is given time like one that says 423.
  @Test func aLockThatIsCalledAConflictIsWaitedFor() throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 2
    let located = TusScript.located(0, of: 300)
    // Behind the pause, too, it is asked first.
    let round = [TusScript.Action.answer(TusScript.refusal(409)), located, located]
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created] + round + round + [TusScript.took(300)]
    ])
    try bench.upload(try bench.tus(server))
    #expect(bench.retries.map { $0.error } == [.tus(.locked), .tus(.locked)])
    #expect(server.finish().count == 9)
  }

  // MARK: A kept connection

  /// The server may have closed it just before the request came.
  @Test func aStaleKeptConnectionIsReplacedAtOnceAndIsNoFailure() throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 0
    let stub = TusStub(length: 300, resets: [3])
    let server = LoopbackServer { stub.answer($0) }
    let deliveries = try bench.upload(try bench.tus(server), try bench.tus(server))
    #expect(deliveries.count == 2 && bench.retries.isEmpty)
    let methods = ["OPTIONS /files/", "POST /files/", "PATCH /files/1"]
    #expect(lines(server.finish()) == methods + ["OPTIONS /files/"] + methods)
  }

  @Test func aPatchOnAKeptConnectionThatBreaksUnderItAsksForTheOffset() throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 0
    let stub = TusStub(length: 300, resets: [2])
    let server = LoopbackServer { stub.answer($0) }
    try bench.upload(try bench.tus(server))
    #expect(bench.retries.isEmpty)
    #expect(lines(server.finish()).suffix(3) == ["PATCH /files/1", "HEAD /files/1", "PATCH /files/1"])
  }

  @Test func aConnectionIsTakenForStaleOnceOnly() throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 1
    let stub = TusStub(length: 300, resets: Array(2..<20))
    let server = LoopbackServer { stub.answer($0) }
    #expect(throws: UploadError.self) { try bench.upload(try bench.tus(server)) }
    #expect(bench.retries.count == 1)
    #expect(server.finish().count <= 6)
  }

  // MARK: Overlapping requests

  /// OPTIONS and a creation that takes long enough for the next requests to overlap.
  private let farAway = [TusScript.offer(), TusScript.createdFarAway]
  /// Reads a request and leaves it unanswered for now.
  private let taken = TusScript.Action.answer("")

  @Test func overADistanceTwoRequestsAreUnderWay() throws {
    let length = 10 * mebibyte
    let bench = UploadBench(length: length)
    let server = LoopbackServer([
      farAway + [
        taken, .answer(stored(4 * mebibyte)), .answer(stored(8 * mebibyte) + stored(length)),
      ]
    ])
    try bench.upload(try bench.tus(server))
    let patches = server.finish().dropFirst(2)
    #expect(patches.map { $0.offset } == [0, 4 * mebibyte, 8 * mebibyte])
    #expect(sha256(patches.flatMap { $0.body }) == sha256(bench.content) && bench.retries.isEmpty)
  }

  /// Uploads nine mebibytes, of which two requests with four are under way when the trouble comes.
  /// - Returns: the requests behind those two.
  private func upload(
    _ bench: UploadBench, second: TusScript.Action, kept: Int = 0, configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> [LoopbackServer.Request] {
    let stub = TusStub(farAway: bench.content.count, second: second, kept: kept)
    let server = LoopbackServer { stub.answer($0) }
    var request = try bench.tus(server)
    configure(&request)
    let outcome = Result { try bench.upload(request) }
    let requests = server.finish()
    _ = try outcome.get()
    #expect(lines(requests).prefix(4) == ["OPTIONS /files/", "POST /files/", "PATCH /files/1", "PATCH /files/1"])
    #expect(requests.dropFirst(2).prefix(2).map { $0.offset } == [0, 4 * mebibyte])
    return Array(requests.dropFirst(4))
  }

  /// Do the requests bring what is missing, once and in order?
  private func expectRest(from offset: Int, in requests: [LoopbackServer.Request], of bench: UploadBench) {
    let patches = requests.filter { $0.line.hasPrefix("PATCH") }
    #expect(patches.first?.offset == offset)
    #expect(sha256(patches.flatMap { $0.body }) == sha256(Array(bench.content[offset...])))
  }

  private func twice(_ text: String) -> TusScript.Action { .answer(text + text) }

  @Test func aFirstAnswer409IsFollowedByTheQuestionForTheOffset() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let rest = try upload(bench, second: twice(TusScript.refusal(409)), kept: mebibyte)
    #expect(rest.first?.line == "HEAD /files/1" && bench.retries.isEmpty)
    expectRest(from: mebibyte, in: rest, of: bench)
  }

  @Test func aFirstAnswer404LetsTheUploadBeginAnew() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let rest = try upload(bench, second: twice(TusScript.refusal(404, TusScript.proof)))
    #expect(rest.first?.line == "POST /files/" && bench.retries.map { $0.error } == [.uploadLost])
    expectRest(from: 0, in: rest, of: bench)
  }

  @Test func aFirstAnswerWithoutAnOffsetMakesTheSecondPointless() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let answers = "HTTP/1.1 204 No Content\r\n\(TusScript.proof)\r\n" + stored(8 * mebibyte)
    let rest = try upload(bench, second: .answer(answers), kept: 8 * mebibyte)
    #expect(rest.first?.line == "HEAD /files/1" && bench.retries.isEmpty)
    expectRest(from: 8 * mebibyte, in: rest, of: bench)
  }

  @Test func aFirstAnswerThatClaimsMoreThanWasSentEndsTheUpload() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    bench.configuration.retries = 0
    let excess = UploadError.tus(.offsetBeyond(sent: Int64(4 * mebibyte), acknowledged: Int64(8 * mebibyte)))
    #expect(throws: excess) {
      _ = try upload(bench, second: .answer(stored(8 * mebibyte) + stored(8 * mebibyte)))
    }
  }

  @Test func aFirstAnswerThatEndsTheConnectionLosesTheSecondRequestAlone() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let rest = try upload(
      bench, second: .answer(stored(4 * mebibyte, "Connection: close\r\n")), kept: 4 * mebibyte)
    #expect(rest.first?.line == "HEAD /files/1" && bench.retries.isEmpty)
    expectRest(from: 4 * mebibyte, in: rest, of: bench)
  }

  /// Servers that take few requests a connection close it behind an answer, and need not say so.
  @Test func aConnectionThatIsClosedBehindTheFirstAnswerIsNoFailure() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    bench.configuration.retries = 0
    let rest = try upload(bench, second: .answerAndClose(stored(4 * mebibyte)), kept: 4 * mebibyte)
    #expect(rest.first?.line == "HEAD /files/1" && bench.retries.isEmpty)
    expectRest(from: 4 * mebibyte, in: rest, of: bench)
  }

  @Test func aConnectionThatBreaksUnderBothIsGoneOnWith() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let rest = try upload(bench, second: .interrupt(afterBody: mebibyte), kept: 5 * mebibyte)
    // It has kept a part of a request, so what is left goes out in one.
    #expect(lines(rest) == ["HEAD /files/1", "PATCH /files/1"] && bench.retries.count == 1)
    expectRest(from: 5 * mebibyte, in: rest, of: bench)
  }

  @Test func afterABreakUnderBothTheDigestIsStillThatOfTheWholeFile() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let stub = TusStub(farAway: 9 * mebibyte, second: .interrupt(afterBody: mebibyte), kept: 3 * mebibyte)
    let server = LoopbackServer { stub.answer($0) }
    var request = try bench.tus(server)
    request.computesDigest = true
    let delivery = try bench.upload(request)[0]
    #expect(delivery.file.sha256 == sha256(bench.content))
    _ = server.finish()
  }

  @Test func credentialsThatExpireUnderTwoRequestsAreRefreshed() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    bench.configuration.credentials = .bearer(token: "old")
    bench.configuration.refreshCredentials = { .bearer(token: "new") }
    let rest = try upload(bench, second: twice(TusScript.refusal(401)))
    #expect(rest.allSatisfy { $0.value("Authorization") == "Bearer new" } && bench.retries.isEmpty)
    expectRest(from: 0, in: rest, of: bench)
  }

  @Test func theServersWishBehindAFirstAnswerIsObeyed() throws {
    let bench = UploadBench(length: 9 * mebibyte)
    let refusal = TusScript.refusal(503, "Retry-After: 1\r\n")
    let rest = try upload(bench, second: .answer(refusal + TusScript.refusal(503)), kept: 8 * mebibyte)
    #expect(bench.retries.map { $0.error } == [.refused(status: 503, message: "no")])
    #expect(bench.retries.allSatisfy { $0.delayMilliseconds >= 1000 && $0.delayMilliseconds < 2000 })
    expectRest(from: 8 * mebibyte, in: rest, of: bench)
  }

  // MARK: Several at once

  @Test func severalUploadsAtOnceAllArrive() throws {
    let bench = UploadBench(length: 700_000)
    let script = [TusScript.offer(), TusScript.created, TusScript.took(700_000)]
    let servers = (0..<3).map { _ in LoopbackServer([script]) }
    // One that nobody listens at.
    var requests = try servers.map { try bench.tus($0) }
    requests.insert(UploadRequest(file: "/nowhere", destination: requests[0].destination), at: 1)
    var ended: [Int: Result<Delivery, UploadError>] = [:]
    var begun: [Int] = []
    var observer = UploadObserver()
    observer.onBegin = { begun.append($0) }
    observer.onEnd = { ended[$0] = $1 }
    let uploader = Uploader(bench.configuration, jobs: 2)
    uploader.upload(requests, observer: observer)
    withExtendedLifetime(uploader) {}
    #expect(begun == [0, 1, 2, 3] && ended.count == 4)
    for (index, outcome) in ended {
      switch outcome {
      case .success(let delivery): #expect(index != 1 && delivery.file.size == 700_000)
      case .failure(let error): #expect(index == 1 && error == .file("/nowhere", .missing))
      }
    }
  }
}
