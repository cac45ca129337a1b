import Testing

@testable import Uploader

/// Pipelined requests (RFC 9112, 9.3.2).
struct TransferPipeliningTests {
  private let peer = TransferBench.peer
  private let conflict = "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno"

  private func twoRequests() throws -> TransferBench {
    try TransferBench(fileLength: 200, ranges: [0..<120, 120..<200])
  }

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
    let bench = try TransferBench(fileLength: 9_000_000, ranges: ranges, digest: try FileDigest(), jobs: jobs)
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

  /// TLS holds records until the socket accepts them. Only then is the first request sent.
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

  @Test func theWaitForEachResponseStartsWithItsRequestsLastByte() throws {
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
    let last = try #require(bench.last)
    #expect(last.milliseconds < 300 && last.milliseconds >= 200)
  }

  /// The sender decides whether the second request still counts: see `Transcripts/tus/pipeline.txt`.
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
    // The second response comes with the next step, without another read.
    var next = try bench.transfer.step([], nowMilliseconds: 0)
    // Another request could follow, but does not.
    if case .sent = next { next = try bench.transfer.step([], nowMilliseconds: 0) }
    if case .answered(let response, _, _) = next {
      #expect(isSecondAnswerThere && response.status == 409)
    } else {
      #expect(!isSecondAnswerThere)
    }
  }

  // MARK: The connection ends

  /// RFC 9112, 9.6: the second request is ignored.
  @Test func aFirstAnswerThatEndsTheConnectionMakesTheSecondRequestPointless() throws {
    let bench = try twoRequests()
    let count = bench.wire(0..<120, 120..<200).count
    // A response after it would belong to no request.
    bench.stream.thenAnswer(stored(120, "Connection: close\r\n") + stored(200), afterWritten: count)
    bench.stream.then(.end)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: peer, nil)) { try bench.run() }
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"] && bench.response == nil)
    #expect(
      !bench.transfer.canReuseConnection && bench.interruption?.staleness == .announced
        && bench.interruption?.sent == .whole)
  }

  /// The bytes before the end of the connection, how it ends, the interruption of the transfer, and the number of responses
  /// that counted.
  private static let ends: [(text: String, end: ScriptedStream.Event, error: UploadError?, answers: Int)] = {
    let lost = UploadError.connectionLost(.awaitingAnswer, peer: TransferBench.peer, nil)
    let incomplete = UploadError.invalidResponse(.incomplete, peer: TransferBench.peer)
    return [
      ("", .end, lost, 0), ("HTTP/1.1 204 No Content\r\nUpload-Off", .end, lost, 0),
      ("HTTP/1.1 100 Continue\r\n\r\n", .end, lost, 0), (stored(120) + "HTTP/1.1 204 No", .end, incomplete, 1),
      // The start of the second response is unknown; the first one counts.
      (stored(120) + "ok" + stored(200), .end, lost, 1),
      (stored(120) + stored(200), .failure(.system(connectionReset)), nil, 1),
    ]
  }()

  @Test(arguments: ends.indices)
  func anEndOfTheConnectionLosesWhatIsNotAnswered(index: Int) throws {
    let (text, end, error, answers) = TransferPipeliningTests.ends[index]
    let bench = try twoRequests()
    let count = bench.wire(0..<120, 120..<200).count
    if !text.isEmpty { bench.stream.thenAnswer(text, afterWritten: count) }
    bench.stream.then(end, afterWritten: count)
    var failure: UploadError?
    do throws(UploadError) { try bench.run() } catch { failure = error }
    #expect(failure == error && bench.earlierAnswers.count == answers)
    #expect(offset(bench.response) == (error == nil ? "200" : nil))
  }

  @Test func aResetUnderTheSecondRequestStillFindsTheFirstAnswer() throws {
    let bench = try twoRequests()
    let first = bench.wire(0..<120).count
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.count < first ? .upTo(first) : .failure(brokenPipe)
    }
    bench.stream.thenAnswer(stored(120), afterWritten: first)
    bench.stream.then(.failure(.system(connectionReset)), afterWritten: first)
    // The write alone must lead to the response.
    #expect {
      for _ in 0..<5 { try bench.step(.writable) }
    } throws: { error in
      guard case UploadError.connectionLost = error else { return false }
      return true
    }
    #expect(bench.earlierAnswers.map { offset($0) } == ["120"])
  }

  // MARK: Early responses

  /// The first one is a refusal, or ends the connection, or succeeds and the second one is early.
  private static let early: [(text: String, status: Int?, earlier: Int)] = [
    ("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno", 409, 0),
    (stored(100, "Connection: close\r\n"), nil, 1),
    (stored(100) + "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig", 413, 1),
  ]

  @Test(arguments: early.indices)
  func aFinalAnswerStopsTheSecondRequest(index: Int) throws {
    let (text, status, earlier) = TransferPipeliningTests.early[index]
    let bench = try TransferBench(fileLength: 2 << 20, ranges: [0..<100, 100..<(2 << 20)])
    bench.stream.nextTake = { .upTo(5000) }
    bench.stream.thenAnswer(text, afterWritten: 20_000)
    var failure: UploadError?
    do throws(UploadError) { try bench.run() } catch { failure = error }
    #expect(failure == (status == nil ? .connectionLost(.sending, peer: peer, nil) : nil))
    #expect(bench.response?.status == status && bench.earlierAnswers.count == earlier)
    #expect(!bench.transfer.hasSentAll && !bench.transfer.canReuseConnection)
    #expect(bench.stream.written.count < 40_000)
  }

  /// It belongs to the second one only if the first was answered.
  @Test func anEarlySuccessIsNoReasonToStop() throws {
    let bench = try TransferBench(fileLength: 1 << 20, ranges: [0..<100, 100..<(1 << 20)])
    bench.stream.nextTake = { .upTo(50_000) }
    let wire = bench.wire(0..<100, 100..<(1 << 20))
    bench.stream.thenAnswer(stored(100), afterWritten: 60_000)
    bench.stream.thenAnswer(stored(1 << 20), afterWritten: wire.count)
    try bench.run()
    #expect(bench.stream.written == wire && bench.transfer.hasSentAll)
  }

  // MARK: What has arrived

  @Test func theArrivedPartOfUnansweredBodiesIsCountedWithoutTheirHeads() throws {
    let bench = try twoRequests()
    let (first, second) = (TransferBench.patchHead(0..<120).utf8.count, TransferBench.patchHead(120..<200).utf8.count)
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
    // The whole first body. The second head is not distinguished while the first is unanswered.
    #expect(bench.endNow.arrived >= 120 && bench.endNow.arrived <= 120 + second)
    bench.stream.thenAnswer(stored(120))
    bench.stream.unacknowledgedLength = 30
    try bench.step(at: 300)
    #expect(bench.endNow.arrived == 50)
  }

  @Test func progressContinuesFromOneRequestToTheNext() throws {
    let ranges = stride(from: 0, to: 900_000, by: 100_000).map { $0..<($0 + 100_000) }
    let bench = try TransferBench(fileLength: 1_000_000, ranges: ranges)
    bench.stream.nextTake = { .upTo(9973) }
    bench.stream.onWrite = { [unowned stream = bench.stream] in stream.unacknowledgedLength = $0 * 7919 % 50_000 }
    for (index, range) in ranges.enumerated() {
      let count = ranges[...min(index + 1, 8)].reduce(0) { $0 + TransferBench.patchHead($1).utf8.count + $1.count }
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
    // When the last byte was found to have arrived.
    try bench.step(at: 100)
    #expect(bench.transfer.hasSentAll)
    try bench.step(at: 120_099)
    #expect(throws: UploadError.timedOut(.awaitingAnswer, peer: peer, limitMilliseconds: 120_000)) {
      try bench.step(at: 120_100)
    }
  }
}
