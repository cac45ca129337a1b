import Testing

@testable import Uploader

/// The bytes sent, and the handling of responses.
struct TransferTests {
  private let peer = TransferBench.peer

  // MARK: The wire

  @Test(arguments: [1, 2, 7, 100, 511, .max])
  func theWireCarriesHeadPreambleFileAndClosingBoundaryExactly(writeLength: Int) throws {
    let bench = try TransferBench(fileLength: 300)
    bench.stream.nextTake = { .upTo(writeLength) }
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.stream.written == bench.wire)
    #expect(bench.response?.status == 201)
    #expect(bench.response?.content == bytes("ok"))
    #expect(bench.transfer.hasSentAll)
  }

  /// Around the ring's capacity, so that it wraps, fills up and runs empty.
  @Test(
    arguments: [((4 << 20) - 1, 1), (4 << 20, 1), ((4 << 20) + 1, 1), (9_000_001, 1), (9_000_001, 2)], [false, true])
  func aFileLargerThanTheRingArrivesByteForByte(file: (length: Int, processors: Int), isSlow: Bool) throws {
    let bench = try TransferBench(fileLength: file.length, processors: file.processors)
    var turn = 0
    bench.stream.nextTake = {
      turn += 1
      if turn % 3 == 0 { return .notReady }
      return .upTo(isSlow ? 30_011 * (turn % 5) : .max)
    }
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    expectSame(bench.stream.written, bench.wire)
    #expect(try bench.digest?.finish() == sha256(bench.content))
  }

  // MARK: Early responses

  @Test func anEarlyFinalAnswerStopsTheSending() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig", afterWritten: 5000)
    try bench.run()
    #expect(bench.response?.status == 413)
    #expect(bench.response?.content == bytes("big"))
    #expect(bench.stream.written == Array(bench.wire.prefix(5000)))
    #expect(!bench.transfer.hasSentAll && bench.endNow.sent == .partial)
  }

  @Test func nothingMoreIsSentWhileTheContentOfAnEarlyAnswerIsAwaited() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    try bench.step()
    bench.stream.thenAnswer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\n")
    let wait = try #require(try bench.step())
    #expect(wait.readiness == .readable)
    #expect(bench.response == nil)
    try bench.step()
    bench.stream.thenAnswer("who?")
    #expect(try bench.step() == nil)
    #expect(bench.response?.content == bytes("who?"))
    #expect(bench.stream.written.count == 1000)
  }

  @Test func aRefusalIsNotLostToAFileThatChangesAfterIt() throws {
    let bench = try TransferBench(fileLength: 2 << 20)
    // The first run is accepted completely, so that the ring is empty when the response arrives.
    try bench.step()
    bench.directory.truncate("set.wav", to: 1)
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\n")
    try bench.step()
    bench.stream.thenAnswer("big")
    #expect(try bench.step() == nil)
    #expect(bench.response?.status == 413)
  }

  // MARK: Broken connections

  @Test func aResponseBeforeAResetIsStillFound() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.count < 3000 ? .upTo(1000) : .failure(brokenPipe)
    }
    try bench.step(.writable)
    try bench.step(.writable)
    try bench.step(.writable)
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
    bench.stream.then(.failure(.system(connectionReset)))
    // Without being readable: the failed write alone must lead to the response.
    #expect(try bench.step(.writable) == nil)
    #expect(bench.response?.status == 413)
    #expect(bench.response?.content == bytes("big"))
    #expect(!bench.transfer.canReuseConnection)
  }

  @Test(arguments: ["", "bi"])
  func aTruncatedResponseBeforeAResetCountsAsTheRefusal(content: String) throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .failure(connectionReset) }
    bench.stream.thenAnswer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\n" + content)
    bench.stream.then(.failure(.system(connectionReset)))
    try bench.run()
    #expect(bench.response?.status == 401)
    #expect(bench.response?.content == bytes(content))
    #expect(!bench.transfer.canReuseConnection)
  }

  /// What follows a complete request, how the connection ends, and the result of the transfer.
  private static let ends: [(answer: String, end: ScriptedStream.Event, error: UploadError?)] = {
    let peer = TransferBench.peer
    let cut = "HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nok"
    return [
      ("", .end, .connectionLost(.awaitingConfirmation, peer: peer, nil)),
      (cut, .failure(.system(connectionReset)), .connectionLost(.awaitingConfirmation, peer: peer, connectionReset)),
      (cut, .end, .invalidResponse(.incomplete, peer: peer)),
      ("HTTP/1.1 201 Created\r\n\r\n{}", .failure(.tls(.truncated)), .tls(.truncated, host: peer)),
      ("HTTP/1.1 201 Created\r\n\r\n{}", .end, nil),
    ]
  }()

  @Test(arguments: ends.indices)
  func aSuccessCountsOnlyWithAllOfItsContent(index: Int) throws {
    let (answer, end, error) = TransferTests.ends[index]
    let bench = try TransferBench(fileLength: 10)
    if !answer.isEmpty { bench.stream.thenAnswer(answer, afterWritten: bench.wire.count) }
    bench.stream.then(end, afterWritten: bench.wire.count)
    var failure: UploadError?
    do throws(UploadError) { try bench.run() } catch { failure = error }
    #expect(failure == error && bench.response?.content == (error == nil ? bytes("{}") : nil))
    #expect(!bench.transfer.canReuseConnection)
  }

  /// Under TLS 1.3 a server rejects a client certificate after the handshake. The refusal is final, does not concern only this
  /// connection, and the form was not processed.
  @Test(arguments: [0, 100, Int.max])
  func aRefusedClientCertificateIsARefusalOfTheServer(afterWritten: Int) throws {
    let bench = try TransferBench(fileLength: 10)
    let alert = TLSError.alert(116, words: "certificate required")
    bench.stream.then(.failure(.tls(alert)), afterWritten: min(afterWritten, bench.wire.count))
    let error = UploadError.tls(alert, host: "hive")
    #expect(throws: error) { try bench.run() }
    #expect(!error.traits.isTransient && !error.traits.leavesOutcomeOpen)
  }

  @Test func aRefusalIsReadAlsoWhereAWriteFailsFirst() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.nextTake = { .failure(connectionReset) }
    bench.stream.then(.failure(.tls(.alert(48, words: "unknown ca"))), afterWritten: 0)
    #expect(throws: UploadError.tls(.alert(48, words: "unknown ca"), host: "hive")) { try bench.run() }
  }

  /// For example a client certificate that the server requests after the whole request.
  @Test func theStreamsOwnBytesAreSentAfterTheLastByte() throws {
    let bench = try TransferBench(fileLength: 10)
    for _ in 0..<10 where !bench.transfer.hasSentAll { try bench.step() }
    try #require(bench.transfer.hasSentAll)
    #expect(try bench.step()?.readiness == .readable)
    (bench.stream.holdsBytes, bench.stream.holdsBack) = (true, true)
    #expect(try bench.step()?.readiness == [.readable, .writable])
    bench.stream.holdsBack = false
    #expect(try bench.step()?.readiness == .readable)
    #expect(!bench.stream.holdsBytes)
  }

  @Test func aResponseToBytesThatWereSentWhileReadingIsToTheWholeRequest() throws {
    let bench = try TransferBench(fileLength: 10)
    (bench.stream.holdsBytes, bench.stream.holdsBack) = (true, true)
    for _ in 0..<10 where bench.stream.written.count < bench.wire.count { try bench.step() }
    try #require(bench.stream.written == bench.wire && !bench.transfer.hasSentAll)
    bench.stream.flushesWhileReading = true
    bench.stream.thenAnswer(accepted)
    try bench.run()
    #expect(bench.response?.status == 201 && bench.transfer.hasSentAll)
  }

  /// After the head, which waits for the 100, and with some of the body.
  @Test(arguments: [(true, .none), (false, .partial)] as [(Bool, ContentSent)])
  func aFailedWriteMayHavePassedOnSomeOfTheBody(expectsContinue: Bool, sent: ContentSent) throws {
    let bench = try TransferBench(fileLength: 1 << 20, expectsContinue: expectsContinue)
    bench.stream.nextTake = { .failure(brokenPipe) }
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, brokenPipe)) { try bench.run() }
    #expect(bench.endNow.sent == sent)
  }

  /// Also after a 100: the server started no final response that could be invalid.
  @Test(arguments: [false, true])
  func anEndInTheMiddleOfTheBodyIsALostConnection(expectsContinue: Bool) throws {
    let bench = try TransferBench(fileLength: 1 << 20, expectsContinue: expectsContinue)
    bench.stream.nextTake = { .upTo(1000) }
    if expectsContinue {
      bench.stream.thenAnswer("HTTP/1.1 100 Continue\r\n\r\n", afterWritten: TransferBench.head.utf8.count)
    }
    bench.stream.then(.end, afterWritten: 5000)
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, nil)) { try bench.run() }
  }

  @Test func anAnswerThatIsNotHTTPIsInvalid() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("220 ftp ready\r\n")
    #expect(throws: UploadError.invalidResponse(.notHTTP, peer: peer)) { try bench.run() }
  }
}
