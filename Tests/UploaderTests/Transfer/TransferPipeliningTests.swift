import Testing

@testable import Uploader

/// Requests that do not wait for the answers to those before them (RFC 9112, 9.3.2).
struct TransferPipeliningTests {
  private let peer = TransferBench.peer
  private let conflict = "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno"

  private func twoRequests() throws -> PatchBench { try PatchBench(fileLength: 200, ranges: [0..<120, 120..<200]) }

  private func offset(_ response: Response?) -> String? { response?.head.fields.first("Upload-Offset") }

  // MARK: The wire

  @Test(arguments: [1, 7, 100, .max])
  func theSecondRequestFollowsTheFirstOnTheWire(writeLength: Int) throws {
    let bench = try twoRequests()
    let wire = bench.wire(0..<120, 120..<200)
    bench.stream.nextTake = { .upTo(writeLength) }
    bench.stream.thenAnswer(stored(120) + stored(200), afterWritten: wire.count)
    try bench.run()
    #expect(bench.stream.written == wire)
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"] && offset(bench.response) == "200")
    #expect(bench.transfer.hasSentAll && bench.transfer.canReuseConnection)
  }

  @Test(arguments: [1, 16])
  func longRequestsFollowEachOtherThroughOneRing(jobs: Int) throws {
    let ranges = [0..<5_000_000, 5_000_000..<5_000_001, 5_000_001..<9_000_000]
    let bench = try PatchBench(fileLength: 9_000_000, ranges: ranges, digest: try FileDigest(), jobs: jobs)
    var turn = 0
    bench.stream.nextTake = {
      turn += 1
      return turn % 4 == 0 ? .notReady : .upTo(70_001 * (turn % 9))
    }
    let wire = bench.wire(ranges[0], ranges[1], ranges[2])
    bench.stream.thenAnswer(stored(5_000_000), afterWritten: bench.wire(ranges[0], ranges[1]).count)
    bench.stream.thenAnswer(stored(5_000_001), afterWritten: wire.count)
    bench.stream.thenAnswer(stored(9_000_000), afterWritten: wire.count)
    try bench.run()
    #expect(bench.stream.written == wire)
    #expect(bench.earlierAnswers.map { offset($0) } == ["5000000", "5000001"])
    #expect(try bench.digest?.finish() == sha256(bench.content))
  }

  @Test func noMoreThanTwoAreUnderWay() throws {
    let bench = try PatchBench(fileLength: 300, ranges: [0..<100, 100..<200, 200..<300])
    for _ in 0..<5 { try bench.step() }
    #expect(bench.stream.written == bench.wire(0..<100, 100..<200) && bench.rangesLeft == 1)
    bench.stream.thenAnswer(stored(100))
    for _ in 0..<5 { try bench.step() }
    #expect(bench.stream.written == bench.wire(0..<100, 100..<200, 200..<300))
    bench.stream.thenAnswer(stored(200) + stored(300))
    try bench.run()
    #expect(bench.earlierAnswers.count == 2 && offset(bench.response) == "300")
  }

  @Test func nothingFollowsARequestThatIsAnsweredAlready() throws {
    let bench = try twoRequests()
    bench.stream.nextTake = { .upTo(50) }
    bench.stream.thenAnswer(conflict, afterWritten: 150)
    try bench.run()
    #expect(bench.response?.status == 409 && bench.rangesLeft == 1)
    #expect(bench.stream.written == Array(bench.wire(0..<120).prefix(150)))
  }

  /// TLS keeps records back until the socket takes them: the first request is not out before.
  @Test func nothingFollowsARequestThatIsHeldBack() throws {
    let bench = try twoRequests()
    bench.stream.holdsBack = true
    for _ in 0..<3 { try bench.step() }
    #expect(bench.rangesLeft == 1 && !bench.transfer.hasSentAll)
    bench.stream.holdsBack = false
    try bench.step()
    #expect(bench.rangesLeft == 0)
  }

  // MARK: Answers

  @Test func theCutsBetweenTheAnswersDoNotCount() throws {
    let answers = bytes("HTTP/1.1 102 Processing\r\n\r\n" + stored(120) + "HTTP/1.1 100 Continue\r\n\r\n" + stored(200))
    for cut in 0...answers.count {
      let bench = try twoRequests()
      let wire = bench.wire(0..<120, 120..<200)
      if cut > 0 { bench.stream.then(.bytes(Array(answers[..<cut])), afterWritten: wire.count) }
      if cut < answers.count { bench.stream.then(.bytes(Array(answers[cut...])), afterWritten: wire.count) }
      try bench.run()
      let told = (bench.earlierAnswers.map { offset($0) }, offset(bench.response))
      #expect(told == (["120"], "200"), "cut at \(cut)")
      #expect(bench.transfer.canReuseConnection, "cut at \(cut)")
    }
  }

  @Test func answersThatComeByteByByteFindTheirRequests() throws {
    let bench = try twoRequests()
    for byte in bytes(stored(120) + stored(200)) {
      bench.stream.then(.bytes([byte]), afterWritten: bench.wire(0..<120, 120..<200).count)
    }
    try bench.run()
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"] && offset(bench.response) == "200")
  }

  @Test func theWaitForEachAnswerBeginsWithItsOwnRequestsLastByte() throws {
    let bench = try twoRequests()
    bench.stream.nextTake = { [unowned stream = bench.stream, first = bench.wire(0..<120).count] in
      stream.written.count < first ? .upTo(first - stream.written.count) : .upTo(40)
    }
    try bench.step(at: 1000)
    for time in stride(from: Int64(1010), through: 1100, by: 10) { try bench.step(at: time) }
    #expect(bench.stream.written == bench.wire(0..<120, 120..<200))
    bench.stream.thenAnswer(stored(120))
    try bench.step(at: 1150)
    bench.stream.thenAnswer(stored(200))
    #expect(try bench.step(at: 1300) == nil)
    #expect(bench.earlierWaits == [150])
    let last = try #require(bench.story.last)
    #expect(last.milliseconds < 300 && last.milliseconds >= 200)
  }

  // MARK: The first answer says no

  @Test(arguments: [300, 400, 401, 404, 409, 410, 413, 423, 460, 500, 503])
  func aFirstAnswerThatSaysNoIsTheTransfersAnswer(status: Int) throws {
    let bench = try twoRequests()
    let refusal = "HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno"
    // The second one's is the same, and nobody looks at it.
    bench.stream.thenAnswer(refusal + refusal, afterWritten: bench.wire(0..<120, 120..<200).count)
    try bench.run()
    #expect(bench.response?.status == status && bench.response?.content == bytes("no"))
    #expect(bench.earlierAnswers.isEmpty && bench.answeredWhen == .whole)
    #expect(!bench.transfer.canReuseConnection)
  }

  @Test func aFirstAnswerThatSaysNoStopsTheSecondRequest() throws {
    let bench = try PatchBench(fileLength: 2 << 20, ranges: [0..<100, 100..<(2 << 20)])
    bench.stream.nextTake = { .upTo(5000) }
    bench.stream.thenAnswer(conflict, afterWritten: 20_000)
    try bench.run()
    #expect(bench.response?.status == 409)
    #expect(bench.stream.written.count < 40_000)
  }

  @Test func aFirstAnswerThatSaysNoIsWaitedForToItsEnd() throws {
    let bench = try twoRequests()
    try bench.step()
    bench.stream.thenAnswer("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nn")
    for _ in 0..<3 { #expect(try bench.step() != nil) }
    bench.stream.thenAnswer("o")
    #expect(try bench.step() == nil)
    #expect(bench.response?.content == bytes("no"))
  }

  /// Whether the second request still makes sense, who sent it decides: see ``PipelinedUploadTests``.
  @Test(arguments: [false, true])
  func behindTheFirstAnswerAConnectionWithAnUnansweredRequestIsOfNoUse(isSecondAnswerThere: Bool) throws {
    let bench = try twoRequests()
    try bench.step()
    bench.stream.thenAnswer(stored(60) + (isSecondAnswerThere ? conflict : ""))
    guard case .answered(let response, .whole, _) = try bench.transfer.step(.readable, nowMilliseconds: 0) else {
      Issue.record("no answer")
      return
    }
    #expect(offset(response) == "60" && !bench.transfer.canReuseConnection)
    // The second one's answer comes with the next step, without another read.
    var next = try bench.transfer.step([], nowMilliseconds: 0)
    // Another request could follow, and does not.
    if case .sent = next { next = try bench.transfer.step([], nowMilliseconds: 0) }
    if case .answered(let response, _, _) = next {
      #expect(isSecondAnswerThere && response.status == 409)
    } else {
      #expect(!isSecondAnswerThere)
    }
  }

  // MARK: The connection ends

  /// RFC 9112, 9.6: the second request is not looked at.
  @Test func aFirstAnswerThatEndsTheConnectionMakesTheSecondRequestPointless() throws {
    let bench = try twoRequests()
    bench.stream.thenAnswer(stored(120, "Connection: close\r\n"), afterWritten: bench.wire(0..<120, 120..<200).count)
    bench.stream.then(.end)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: peer, nil)) { try bench.run() }
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"] && !bench.transfer.canReuseConnection)
    #expect(bench.interruption?.connection == .announced && bench.interruption?.sent == .whole)
  }

  /// An answer behind it, should one come, is nobody's.
  @Test func behindAnAnswerThatEndsTheConnectionNothingIsRead() throws {
    let bench = try twoRequests()
    let wire = bench.wire(0..<120, 120..<200)
    bench.stream.thenAnswer(stored(120, "Connection: close\r\n") + stored(200), afterWritten: wire.count)
    bench.stream.thenAnswer(stored(200), afterWritten: wire.count)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: peer, nil)) { try bench.run() }
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"] && bench.response == nil)
  }

  @Test func aFirstAnswerThatEndsTheConnectionStopsTheSecondRequest() throws {
    let bench = try PatchBench(fileLength: 2 << 20, ranges: [0..<100, 100..<(2 << 20)])
    bench.stream.nextTake = { .upTo(5000) }
    bench.stream.thenAnswer(stored(100, "Connection: close\r\n"), afterWritten: 20_000)
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, nil)) { try bench.run() }
    #expect(bench.response == nil && bench.stream.written.count < 40_000 && bench.earlierAnswers.count == 1)
  }

  @Test(arguments: ["", "HTTP/1.1 204 No Content\r\nUpload-Off", "HTTP/1.1 100 Continue\r\n\r\n"])
  func anEndBeforeTheFirstAnswerLosesBoth(start: String) throws {
    let bench = try twoRequests()
    let count = bench.wire(0..<120, 120..<200).count
    if !start.isEmpty { bench.stream.thenAnswer(start, afterWritten: count) }
    bench.stream.then(.end, afterWritten: count)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: peer, nil)) { try bench.run() }
    #expect(bench.earlierAnswers.isEmpty)
  }

  @Test func aResetUnderTheSecondRequestStillFindsTheFirstAnswer() throws {
    let bench = try twoRequests()
    let first = bench.wire(0..<120).count
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.count < first ? .upTo(first) : .failure(brokenPipe)
    }
    bench.stream.thenAnswer(stored(120), afterWritten: first)
    bench.stream.then(.failure(.system(connectionReset)), afterWritten: first)
    // The write alone has to lead to the answer.
    #expect {
      for _ in 0..<5 { try bench.step(.writable) }
    } throws: { error in
      guard case UploadError.connectionLost = error else { return false }
      return true
    }
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"])
  }

  /// The refusal's head is enough, as for a request that nothing follows.
  @Test(arguments: [ScriptedStream.Event.end, .failure(.system(connectionReset))])
  func aFirstAnswerThatSaysNoAndIsCutCountsAllTheSame(event: ScriptedStream.Event) throws {
    let bench = try twoRequests()
    let count = bench.wire(0..<120, 120..<200).count
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\nbig", afterWritten: count)
    bench.stream.then(event, afterWritten: count)
    try bench.run()
    #expect(bench.response?.status == 413 && bench.response?.content == bytes("big"))
    #expect(bench.answeredWhen == .whole && !bench.transfer.canReuseConnection)
  }

  /// Nobody can tell where the second answer would begin; the first one counts.
  @Test func strayBytesBehindTheFirstAnswerLoseTheConnectionAlone() throws {
    let bench = try twoRequests()
    let count = bench.wire(0..<120, 120..<200).count
    bench.stream.thenAnswer(stored(120) + "ok" + stored(200), afterWritten: count)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: peer, nil)) { try bench.run() }
    #expect(bench.earlierAnswers.count == 1 && bench.interruption?.connection == .used(hasSentLittle: true))
  }

  @Test func aResetBehindBothAnswersLosesNothing() throws {
    let bench = try twoRequests()
    bench.stream.thenAnswer(stored(120) + stored(200), afterWritten: bench.wire(0..<120, 120..<200).count)
    bench.stream.then(.failure(.system(connectionReset)))
    try bench.run()
    #expect(bench.earlierAnswers.count == 1 && offset(bench.response) == "200")
  }

  @Test func theSecondAnswerCanBeCut() throws {
    let bench = try twoRequests()
    bench.stream.thenAnswer(stored(120) + "HTTP/1.1 204 No", afterWritten: bench.wire(0..<120, 120..<200).count)
    bench.stream.then(.end)
    #expect(throws: UploadError.invalidResponse(.incomplete, peer: peer)) { try bench.run() }
    #expect(bench.earlierAnswers.count == 1)
  }

  // MARK: An early answer to the second request

  @Test func anEarlyFinalAnswerStopsTheSecondRequest() throws {
    let bench = try PatchBench(fileLength: 2 << 20, ranges: [0..<100, 100..<(2 << 20)])
    bench.stream.nextTake = { .upTo(5000) }
    bench.stream.thenAnswer(
      stored(100) + "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig", afterWritten: 20_000)
    try bench.run()
    #expect(bench.earlierAnswers.map { offset($0) } == ["100"])
    #expect(bench.response?.status == 413 && bench.response?.content == bytes("big"))
    #expect(!bench.transfer.hasSentAll && !bench.transfer.canReuseConnection)
    #expect(bench.stream.written.count < 40_000)
  }

  /// It was for the second one only if the first was answered.
  @Test func anEarlySuccessIsNoReasonToStop() throws {
    let bench = try PatchBench(fileLength: 1 << 20, ranges: [0..<100, 100..<(1 << 20)])
    bench.stream.nextTake = { .upTo(50_000) }
    let wire = bench.wire(0..<100, 100..<(1 << 20))
    bench.stream.thenAnswer(stored(100), afterWritten: 60_000)
    bench.stream.thenAnswer(stored(1 << 20), afterWritten: wire.count)
    try bench.run()
    #expect(bench.stream.written == wire && bench.transfer.hasSentAll)
  }

  // MARK: What has arrived

  @Test func whatArrivedOfUnansweredBodiesIsCountedWithoutTheirHeads() throws {
    let bench = try twoRequests()
    let (first, second) = (PatchBench.head(0..<120).utf8.count, PatchBench.head(120..<200).utf8.count)
    #expect(bench.endNow.arrived == 0)
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.count < first + 50 ? .upTo(first + 50) : .notReady
    }
    bench.stream.unacknowledgedLength = 20
    try bench.step(at: 0)
    #expect(bench.endNow.arrived == 30)
    bench.stream.nextTake = { .upTo(.max) }
    bench.stream.unacknowledgedLength = 80
    try bench.step(at: 100)
    try bench.step(at: 200)
    // All of the first body; the second head is not told apart as long as the first is unanswered.
    #expect(bench.endNow.arrived >= 120 && bench.endNow.arrived <= 120 + second)
    bench.stream.thenAnswer(stored(120))
    bench.stream.unacknowledgedLength = 30
    try bench.step(at: 300)
    #expect(bench.endNow.arrived == 50)
  }

  @Test func aHeadAloneIsNothingOfABody() throws {
    let bench = try twoRequests()
    bench.stream.nextTake = { [unowned stream = bench.stream] in stream.written.isEmpty ? .upTo(40) : .notReady }
    try bench.step(at: 0)
    #expect(bench.endNow.arrived == 0)
  }

  @Test func progressGoesOnFromOneRequestToTheNext() throws {
    let ranges = stride(from: 0, to: 900_000, by: 100_000).map { $0..<($0 + 100_000) }
    let bench = try PatchBench(fileLength: 1_000_000, ranges: ranges)
    bench.stream.nextTake = { .upTo(9973) }
    bench.stream.onWrite = { [unowned stream = bench.stream] in stream.unacknowledgedLength = $0 * 7919 % 50_000 }
    for (index, range) in ranges.enumerated() {
      let count = ranges[...min(index + 1, 8)].reduce(0) { $0 + PatchBench.head($1).utf8.count + $1.count }
      bench.stream.thenAnswer(stored(range.upperBound), afterWritten: count)
    }
    var time: Int64 = 0
    while try bench.step(at: time) != nil { time += 40 }
    let delivered = bench.progress.map { $0.deliveredBytes }
    #expect(delivered.count > 10 && bench.earlierAnswers.count == 8)
    #expect(zip(delivered, delivered.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(delivered.allSatisfy { $0 <= 900_000 } && bench.progress.allSatisfy { $0.totalBytes == 1_000_000 })
  }

  // MARK: Time

  @Test func aSecondRequestThatStallsIsGivenUp() throws {
    let bench = try twoRequests()
    let first = bench.wire(0..<120).count
    bench.stream.nextTake = { [unowned stream = bench.stream] in stream.written.count < first ? .upTo(first) : .notReady
    }
    try bench.step(at: 0)
    try bench.step(at: 29_999)
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 30_000)) {
      try bench.step(at: 30_000)
    }
  }

  @Test func aServerThatAnswersNeitherIsGivenUpAtTheResponseLimit() throws {
    let bench = try twoRequests()
    try bench.step(at: 0)
    // When the last byte is seen to have arrived.
    try bench.step(at: 100)
    #expect(bench.transfer.hasSentAll)
    try bench.step(at: 120_099)
    #expect(throws: UploadError.timedOut(.awaitingAnswer, peer: peer, limitMilliseconds: 120_000)) {
      try bench.step(at: 120_100)
    }
  }
}
