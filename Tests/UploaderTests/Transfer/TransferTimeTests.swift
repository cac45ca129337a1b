import Testing

@testable import Uploader

/// Waiting, limits and progress, in virtual time.
struct TransferTimeTests {
  private let peer = TransferBench.peer
  private let headLength = TransferBench.head.utf8.count

  // MARK: 100-continue

  @Test func theBodyWaitsFor100Continue() throws {
    let bench = try TransferBench(fileLength: 300, expectsContinue: true, roundTripMilliseconds: 100)
    let wait = try #require(try bench.step(at: 1000))
    #expect(bench.stream.written == bytes(TransferBench.head))
    #expect(wait.readiness == .readable)
    try bench.step(at: 1399)
    #expect(bench.stream.written.count == headLength)
    bench.stream.thenAnswer("HTTP/1.1 100 Continue\r\n\r\n")
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.stream.written == bench.wire)
    #expect(bench.now == 1399)
  }

  /// Four round trips, at least 25 ms and at most a second.
  @Test(arguments: [(0, 25), (6, 25), (7, 28), (100, 400), (250, 1000), (251, 1000), (9000, 1000)] as [(Int64, Int64)])
  func theWaitForA100EndsExactlyAtItsLimit(roundTrip: Int64, limit: Int64) throws {
    let bench = try TransferBench(fileLength: 300, expectsContinue: true, roundTripMilliseconds: roundTrip)
    let wait = try #require(try bench.step(at: 5000))
    #expect(wait.untilMilliseconds <= 5000 + limit && wait.untilMilliseconds > 5000)
    try bench.step([], at: 5000 + limit - 1)
    #expect(bench.stream.written.count == headLength)
    try bench.step([], at: 5000 + limit)
    #expect(bench.stream.written == bench.wire)
  }

  @Test func aRefusalInsteadOf100ContinueIsTheAnswer() throws {
    let bench = try TransferBench(fileLength: 300, expectsContinue: true, roundTripMilliseconds: 100)
    bench.stream.thenAnswer("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", afterWritten: headLength)
    try bench.run()
    #expect(bench.response?.status == 417)
    #expect(bench.stream.written == bytes(TransferBench.head))
    #expect(bench.endNow.sent == .none)
  }

  @Test func theWaitForA100StartsWhenTheHeadIsSent() throws {
    let bench = try TransferBench(fileLength: 300, expectsContinue: true, roundTripMilliseconds: 100)
    bench.stream.holdsBack = true
    let wait = try #require(try bench.step(at: 1000))
    #expect(wait.readiness == [.readable, .writable])
    bench.stream.holdsBack = false
    try bench.step(at: 2000)
    try bench.step([], at: 2399)
    #expect(bench.stream.written.count == headLength)
    try bench.step([], at: 2400)
    #expect(bench.stream.written == bench.wire)
  }

  @Test func bytesThatTheStreamHoldsBackDoNotCountAsSent() throws {
    let bench = try TransferBench(fileLength: 300)
    bench.stream.holdsBack = true
    let wait = try #require(try bench.step(at: 0))
    #expect(bench.stream.written == bench.wire)
    #expect(!bench.transfer.hasSentAll && wait.readiness.contains(.writable))
    bench.stream.holdsBack = false
    try bench.step(at: 10)
    #expect(bench.transfer.hasSentAll)
  }

  // MARK: The disk

  /// A disk that takes a minute for each read and each fstat. The network had nothing to do in that time.
  @Test func timeThatTheDiskTakesDoesNotCountForTheNetwork() throws {
    var (now, isReading) = (Int64(0), false)
    let bench = try TransferBench(
      fileLength: 3 << 20, stallMilliseconds: 5000, responseMilliseconds: 5000,
      clock: {
        if isReading { now += 60_000 }
        isReading.toggle()
        return now
      })
    bench.stream.onWrite = { [unowned stream = bench.stream] _ in stream.unacknowledgedLength = stream.written.count }
    var isFull = false
    bench.stream.nextTake = { isFull ? .notReady : .upTo(700_000) }
    while !bench.transfer.hasSentAll {
      isFull = false
      try bench.step(at: now)
      // The bytes written after the read arrive just in time.
      isFull = true
      now += 4899
      try bench.step(at: now)
      bench.stream.unacknowledgedLength = 0
      now += 100
      try bench.step(at: now)
    }
    bench.stream.thenAnswer(accepted)
    try bench.run()
    #expect(bench.response?.status == 201)
  }

  /// The limit starts when the read has ended, not with its step.
  @Test func bytesThatArriveDuringALongReadAreNotLate() throws {
    var (now, isReading) = (Int64(0), false)
    let bench = try TransferBench(
      fileLength: 3 << 20, stallMilliseconds: 5000,
      clock: {
        if isReading { now += 60_000 }
        isReading.toggle()
        return now
      })
    bench.stream.nextTake = { [unowned stream = bench.stream] in stream.written.isEmpty ? .upTo(700_000) : .notReady }
    try bench.step(at: 0)
    try bench.step(at: now + 4999)
  }

  @Test func aStepOfAnotherMachineExtendsTheDeadlineByItsOwnTime() throws {
    let bench = try TransferBench(fileLength: 1 << 20, stallMilliseconds: 5000)
    bench.stream.nextTake = { .notReady }
    try bench.step(at: 100)
    bench.transfer.extendDeadlines(by: 60_000)
    try bench.step(at: 65_099)
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 5000)) { try bench.step(at: 65_100) }
  }

  // MARK: Limits

  @Test func aStalledConnectionIsGivenUpExactlyAtItsLimit() throws {
    let bench = try TransferBench(fileLength: 1 << 20, stallMilliseconds: 5000)
    bench.stream.nextTake = { [unowned stream = bench.stream] in stream.written.count < 1000 ? .upTo(1000) : .notReady }
    try bench.step(at: 100)
    let wait = try #require(try bench.step(at: 5099))
    #expect(wait.untilMilliseconds == 5100)
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 5000)) { try bench.step(at: 5100) }
  }

  @Test func unacknowledgedBytesAreNoProgress() throws {
    let bench = try TransferBench(fileLength: 1 << 20, stallMilliseconds: 5000)
    // The kernel accepts byte after byte, but the peer is gone.
    bench.stream.nextTake = { .upTo(10) }
    bench.stream.onWrite = { [unowned stream = bench.stream] in stream.unacknowledgedLength = $0 }
    for time in stride(from: 0, through: 4900, by: 100) { try bench.step(at: Int64(time)) }
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 5000)) { try bench.step(at: 5000) }
  }

  @Test func everyAcknowledgedByteRestartsTheStallLimit() throws {
    let bench = try TransferBench(fileLength: 1 << 20, stallMilliseconds: 5000)
    bench.stream.nextTake = { .upTo(1) }
    for time in stride(from: 0, through: 40_000, by: 4000) { try bench.step(at: Int64(time)) }
    bench.stream.nextTake = { .notReady }
    try bench.step(at: 44_999)
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 5000)) { try bench.step(at: 45_000) }
  }

  @Test func anAcknowledgementJustBeforeTheLimitCounts() throws {
    let bench = try TransferBench(fileLength: 1 << 20, stallMilliseconds: 5000)
    bench.stream.nextTake = { [unowned stream = bench.stream] in stream.written.isEmpty ? .upTo(1000) : .notReady }
    bench.stream.onWrite = { [unowned stream = bench.stream] _ in stream.unacknowledgedLength = 500 }
    try bench.step(at: 0)
    // Progress is checked here, so that it is not due again at the limit.
    try bench.step(at: 4950)
    bench.stream.unacknowledgedLength = 0
    #expect(try bench.step(at: 5000) != nil)
  }

  /// Everything was written, but the peer has not acknowledged all of it, so this is still sending.
  @Test func anUnacknowledgedEndOfTheRequestIsAStallOfTheSending() throws {
    let bench = try TransferBench(fileLength: 300, stallMilliseconds: 5000)
    bench.stream.unacknowledgedLength = 100
    try bench.step(at: 0)
    #expect(bench.transfer.hasSentAll)
    try bench.step(at: 4999)
    #expect(throws: UploadError.timedOut(.sending, peer: peer, limitMilliseconds: 5000)) { try bench.step(at: 5000) }
  }

  @Test func aSilentServerIsGivenUpExactlyAtTheResponseLimit() throws {
    let bench = try TransferBench(fileLength: 300, stallMilliseconds: 5000, responseMilliseconds: 60_000)
    try bench.step(at: 1000)
    #expect(bench.transfer.hasSentAll)
    let wait = try #require(try bench.step(at: 60_999))
    #expect(wait.untilMilliseconds == 61_000)
    #expect(throws: UploadError.timedOut(.awaitingConfirmation, peer: peer, limitMilliseconds: 60_000)) {
      try bench.step(at: 61_000)
    }
  }

  @Test func theResponseLimitBeginsWithTheLastAcknowledgedByte() throws {
    let bench = try TransferBench(fileLength: 300, stallMilliseconds: 5000, responseMilliseconds: 60_000)
    bench.stream.unacknowledgedLength = 100
    try bench.step(at: 0)
    bench.stream.unacknowledgedLength = 0
    try bench.step(at: 4000)
    try bench.step(at: 63_999)
    #expect(throws: UploadError.timedOut(.awaitingConfirmation, peer: peer, limitMilliseconds: 60_000)) {
      try bench.step(at: 64_000)
    }
  }

  @Test func anAnswerThatDripsIsGivenUpAtTheResponseLimit() throws {
    let bench = try TransferBench(fileLength: 300, responseMilliseconds: 60_000)
    try bench.step(at: 0)
    bench.stream.thenAnswer("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n")
    for time in stride(from: Int64(0), to: 60_000, by: 1000) {
      bench.stream.thenAnswer("x")
      try bench.step(at: time)
    }
    bench.stream.thenAnswer("x")
    #expect(throws: UploadError.timedOut(.awaitingConfirmation, peer: peer, limitMilliseconds: 60_000)) {
      try bench.step(at: 60_000)
    }
  }

  @Test func anAnswerAtTheLastMomentCounts() throws {
    let bench = try TransferBench(fileLength: 300, responseMilliseconds: 60_000)
    try bench.step(at: 0)
    bench.stream.thenAnswer(accepted)
    #expect(try bench.step(at: 60_000) == nil)
    #expect(bench.response?.status == 201)
  }

  /// While the rate limit stops sending there is no stall, but nothing is sent any more.
  @Test func aRefusalWithoutAnEndIsNotWaitedForLongerBecauseOfARateLimit() throws {
    let rateShare = RateShare(of: RateControl(RateSchedule(.bytesPerSecond(10_000))))
    let bench = try TransferBench(fileLength: 1 << 20, responseMilliseconds: 5000, rateShare: rateShare)
    for time in stride(from: Int64(0), through: 200, by: 10) { try bench.step(at: time) }
    bench.stream.thenAnswer("HTTP/1.1 413 Too Large\r\nContent-Length: 10\r\n\r\nbig")
    var time: Int64 = 210
    while bench.response == nil, time < 20_000 {
      try bench.step(at: time)
      time += 100
    }
    #expect(bench.response?.status == 413 && time < 6000)
  }

  /// TLS has bytes from before the pause, and the network takes them during the pause.
  @Test func bytesThatTheStreamHoldsBackAreSentDuringAPause() throws {
    let clock = PaceClock()
    let schedule = try RateSchedule(parsing: "00:00,off 01:00,pause") { Int64($0) }
    let rateShare = RateShare(of: RateControl(schedule, minute: { clock.minute }))
    let bench = try TransferBench(fileLength: 1 << 20, rateShare: rateShare)
    bench.stream.nextTake = { .upTo(10_000) }
    (bench.stream.holdsBack, bench.stream.holdsBytes, bench.stream.unacknowledgedLength) = (true, true, 10_000)
    try bench.step(at: 0)
    clock.minute = 60
    let wait = try #require(try bench.step(at: 2000))
    #expect(wait.readiness.contains(.writable))
    bench.stream.holdsBack = false
    try bench.step(at: 3000)
    #expect(!bench.stream.holdsBytes)
    bench.stream.unacknowledgedLength = 0
    for time in stride(from: Int64(4000), to: 100_000, by: 1000) { try bench.step([], at: time) }
    #expect(bench.interruption == nil)
  }

  private final class PaceClock { var minute: Int? = 0 }

  // MARK: Waits

  @Test func aBlockedTransferWaitsForRoomAndForAnAnswer() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .notReady }
    let wait = try #require(try bench.step(at: 10))
    #expect(wait.readiness == [.readable, .writable] && wait.untilMilliseconds > 10)
  }

  @Test func aTransferThatCanWriteOnOnlyLooksForAnAnswer() throws {
    let bench = try TransferBench(fileLength: 2 << 20)
    let wait = try #require(try bench.step(at: 10))
    #expect(wait.readiness.contains(.readable) && wait.untilMilliseconds <= 10)
  }

  // MARK: UploadProgress

  @Test func progressOnlyGrowsAndNeverPassesTheFilesSize() throws {
    let bench = try TransferBench(fileLength: 700_000)
    bench.stream.nextTake = { .upTo(9973) }
    bench.stream.onWrite = { [unowned stream = bench.stream] in stream.unacknowledgedLength = $0 * 7919 % 50_000 }
    var time: Int64 = 0
    while bench.stream.written.count < bench.wire.count {
      try bench.step(at: time)
      time += 40
    }
    bench.stream.unacknowledgedLength = 0
    try bench.step(at: time + 100)
    let delivered = bench.progress.map { $0.deliveredBytes }
    #expect(delivered.count > 10)
    #expect(zip(delivered, delivered.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(delivered.first == 0 && delivered.last == 700_000)
    #expect(bench.progress.allSatisfy { $0.totalBytes == 700_000 })
  }

  @Test func progressLeavesOutTheFramingAndWhatTheKernelStillHolds() throws {
    let bench = try TransferBench(fileLength: 2 << 20)
    let framing = headLength + TransferBench.preamble.utf8.count
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      stream.written.isEmpty ? .upTo(framing + 100_000) : .notReady
    }
    bench.stream.unacknowledgedLength = 40_000
    try bench.step(at: 0)
    #expect(bench.progress == [UploadProgress(deliveredBytes: 60_000, totalBytes: 2 << 20)])
  }

  @Test func progressIsReportedAtMostTenTimesASecond() throws {
    let bench = try TransferBench(fileLength: 1 << 20)
    bench.stream.nextTake = { .upTo(1) }
    for time in 0..<1000 { try bench.step(at: Int64(time)) }
    #expect(bench.progress.count == 10)
  }

  /// What ends a step early, such as the announcement of the last byte, is followed by another one with the same time.
  @Test func aSlowDiskBeforeTheLastByteIsNoStall() {
    var timeouts = Timeouts()
    timeouts.stallMilliseconds = 500
    var clock = TransferClock(timeouts)
    clock.beginStep(1000)
    clock.excludeReading(700)
    clock.beginStep(1000)
    clock.noteAdvance()
    #expect(clock.stallDeadline == 2200)
    clock.beginStep(1800)
    clock.noteAdvance()
    #expect(clock.stallDeadline == 2300)
  }
}
