import Testing

@testable import Uploader

/// What goes out, and what is made of what comes back.
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
  @Test(arguments: [(4 << 20) - 1, 4 << 20, (4 << 20) + 1], [false, true])
  func aFileLargerThanTheRingArrivesByteForByte(fileLength: Int, isSlow: Bool) throws {
    let bench = try TransferBench(fileLength: fileLength)
    var turn = 0
    bench.stream.nextTake = {
      turn += 1
      if turn % 3 == 0 { return .notReady }
      return .upTo(isSlow ? 30_011 * (turn % 5) : .max)
    }
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.stream.written == bench.wire)
    #expect(try bench.finishDigest() == sha256(bench.content))
  }

  // MARK: Early answers

  @Test func anEarlyFinalAnswerStopsTheSending() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig", afterWritten: 5000)
    try bench.run()
    #expect(bench.response?.status == 413)
    #expect(bench.response?.content == bytes("big"))
    #expect(bench.stream.written == Array(bench.wire.prefix(5000)))
    #expect(!bench.transfer.hasSentAll && bench.endNow.sent == .begun)
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

  @Test func aRefusalIsNotLostToAFileThatChangesBehindIt() throws {
    let bench = try TransferBench(fileLength: 2 << 20)
    // The first run is taken whole, so that the ring is empty when the answer comes.
    try bench.step()
    bench.directory.truncate("set.wav", to: 1)
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\n")
    try bench.step()
    bench.stream.thenAnswer("big")
    #expect(try bench.step() == nil)
    #expect(bench.response?.status == 413)
  }

  // MARK: Broken connections

  @Test func anAnswerBehindAResetIsStillFound() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.count < 3000 ? .upTo(1000) : .failure(brokenPipe)
    }
    try bench.step(.writable)
    try bench.step(.writable)
    try bench.step(.writable)
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
    bench.stream.then(.failure(.system(connectionReset)))
    // Not told to be readable: the failed write alone has to lead to the answer.
    #expect(try bench.step(.writable) == nil)
    #expect(bench.response?.status == 413)
    #expect(bench.response?.content == bytes("big"))
    #expect(!bench.transfer.canReuseConnection)
  }

  @Test(arguments: ["", "bi"])
  func anAnswerWithoutAllItsContentBehindAResetCountsAsTheRefusal(content: String) throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .failure(connectionReset) }
    bench.stream.thenAnswer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\n" + content)
    bench.stream.then(.failure(.system(connectionReset)))
    try bench.run()
    #expect(bench.response?.status == 401)
    #expect(bench.response?.content == bytes(content))
    #expect(!bench.transfer.canReuseConnection)
  }

  @Test func aSuccessWithoutItsContentIsNone() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.thenAnswer("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nok", afterWritten: bench.wire.count)
    bench.stream.then(.failure(.system(connectionReset)))
    #expect(throws: UploadError.connectionLost(.awaitingResponse, peer: peer, connectionReset)) { try bench.run() }
    #expect(bench.response == nil)
  }

  @Test func aSuccessCutByAnOrderlyEndIsIncomplete() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.thenAnswer("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nok", afterWritten: bench.wire.count)
    bench.stream.then(.end)
    #expect(throws: UploadError.invalidResponse(.incomplete, peer: peer)) { try bench.run() }
  }

  @Test func aCloseDelimitedSuccessThatTLSDoesNotEndIsNone() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.thenAnswer("HTTP/1.1 201 Created\r\n\r\n{}", afterWritten: bench.wire.count)
    bench.stream.then(.failure(.tls(.truncated)))
    #expect(throws: UploadError.tls(.truncated, host: peer)) { try bench.run() }
  }

  /// Under TLS 1.3 a server refuses a client certificate behind the handshake: the refusal is the server's and final, not this
  /// connection's, and nothing of the form was looked at.
  @Test(arguments: [0, 100, Int.max])
  func aRefusedClientCertificateIsARefusalOfTheServer(afterWritten: Int) throws {
    let bench = try TransferBench(fileLength: 10)
    let alert = TLSError.alert(116, words: "certificate required")
    bench.stream.then(.failure(.tls(alert)), afterWritten: min(afterWritten, bench.wire.count))
    let error = UploadError.tls(alert, host: "hive")
    #expect(throws: error) { try bench.run() }
    #expect(!error.isTransient && !error.leavesOutcomeOpen)
  }

  @Test func aRefusalIsReadAlsoWhereAWriteFailsFirst() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.nextTake = { .failure(connectionReset) }
    bench.stream.then(.failure(.tls(.alert(48, words: "unknown ca"))), afterWritten: 0)
    #expect(throws: UploadError.tls(.alert(48, words: "unknown ca"), host: "hive")) { try bench.run() }
  }

  /// Such as a client certificate that the server asks for when it has the whole request.
  @Test func whatTheStreamHasToSayGoesOutBehindTheLastByte() throws {
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

  @Test func aCloseDelimitedSuccessEndsWithTheConnection() throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.thenAnswer("HTTP/1.1 201 Created\r\n\r\n{}", afterWritten: bench.wire.count)
    bench.stream.then(.end)
    try bench.run()
    #expect(bench.response?.content == bytes("{}"))
    #expect(!bench.transfer.canReuseConnection)
  }

  @Test func aFailedWriteWithoutAnAnswerIsALostConnection() throws {
    let bench = try TransferBench(fileLength: 1 << 20, expectsContinue: true)
    bench.stream.nextTake = { .failure(brokenPipe) }
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, brokenPipe)) { try bench.run() }
    #expect(bench.endNow.sent == .none)
  }

  @Test func aFailedWriteMayHavePassedOnSomeOfTheBody() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .failure(brokenPipe) }
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, brokenPipe)) { try bench.run() }
    #expect(bench.endNow.sent == .begun)
  }

  @Test func anEndWithoutAnAnswerIsALostConnection() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.then(.end, afterWritten: 5000)
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, nil)) { try bench.run() }
    let silent = try TransferBench(fileLength: 10)
    silent.stream.then(.end, afterWritten: silent.wire.count)
    #expect(throws: UploadError.connectionLost(.awaitingResponse, peer: peer, nil)) { try silent.run() }
  }

  /// The server began no final answer, so there is none that could be invalid.
  @Test func anEndBehindNothingButLeaveToSendIsALostConnection() throws {
    let bench = try TransferBench(fileLength: 1 << 20, expectsContinue: true)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("HTTP/1.1 100 Continue\r\n\r\n", afterWritten: TransferBench.head.utf8.count)
    bench.stream.then(.end, afterWritten: 5000)
    #expect(throws: UploadError.connectionLost(.sending, peer: peer, nil)) { try bench.run() }
  }

  @Test func anAnswerThatIsNotHTTPIsInvalid() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("220 ftp ready\r\n")
    #expect(throws: UploadError.invalidResponse(.notHTTP, peer: peer)) { try bench.run() }
  }

  // MARK: Reuse

  @Test(arguments: [
    (accepted, true), ("HTTP/1.1 204 No Content\r\n\r\n", true),
    ("HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false),
    ("HTTP/1.0 201 Created\r\nContent-Length: 0\r\n\r\n", false), (accepted + "more", false),
  ])
  func aConnectionIsKeptOnlyIfTheAnswerAllowsIt(answer: String, isKept: Bool) throws {
    let bench = try TransferBench(fileLength: 10)
    bench.stream.thenAnswer(answer, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.transfer.canReuseConnection == isKept)
  }

  @Test func aConnectionIsNotKeptAfterAnEarlyAnswer() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1000) }
    bench.stream.thenAnswer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", afterWritten: 2000)
    try bench.run()
    #expect(!bench.transfer.canReuseConnection)
  }
}
