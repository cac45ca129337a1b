import Glibc
import Testing

@testable import Uploader

/// Files that change while they are sent: the end of the body, which would complete them, is never sent.
struct TransferFileTests {
  private let fileLength = 2 << 20

  /// A transfer during which the file is changed after the first bytes were sent.
  private func bench(change: @escaping (TemporaryDirectory) -> Void) throws -> TransferBench {
    let bench = try TransferBench(fileLength: fileLength)
    var hasChanged = false
    bench.stream.nextTake = { .upTo(100_000) }
    bench.stream.onWrite = { [directory = bench.directory] _ in
      if !hasChanged { change(directory) }
      hasChanged = true
    }
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    return bench
  }

  private func expect(_ error: FileError, from bench: TransferBench) {
    #expect(throws: UploadError.file(bench.path, error)) { try bench.run() }
    #expect(!bench.hasWrittenClosing)
    #expect(bench.response == nil && !bench.transfer.hasSentAll)
  }

  @Test func aFileThatShrinksIsAnError() throws {
    let bench = try bench { $0.truncate("set.wav", to: 1_500_000) }
    expect(.shrank(size: 2 << 20, to: 1_500_000), from: bench)
    #expect(bench.stream.written == Array(bench.wire.prefix(bench.stream.written.count)))
  }

  @Test func aFileThatShrinksBelowWhatWasReadIsAnError() throws {
    let bench = try bench { $0.truncate("set.wav", to: 1) }
    #expect { try bench.run() } throws: { error in
      guard case UploadError.file(bench.path, .shrank(size: 2_097_152, _)) = error else { return false }
      return true
    }
    #expect(!bench.hasWrittenClosing)
  }

  @Test func aFileThatGrowsIsAnError() throws {
    expect(.grew(from: 2 << 20, to: (2 << 20) + 5), from: try bench { $0.append(bytes("12345"), to: "set.wav") })
  }

  @Test func aFileThatIsRewrittenIsAnError() throws {
    expect(.rewritten, from: try bench { $0.overwrite([0], in: "set.wav", at: 2_000_000) })
    expect(.rewritten, from: try bench { $0.overwrite([0], in: "set.wav", at: 0) })
  }

  @Test(arguments: [false, true])
  func aChangeOfTheStatusIsReportedOnceAndAgainBeforeTheEndIsSent(hasThread: Bool) throws {
    // Wherever the runs are in the ring, the last one has more than 100,000 bytes.
    let bench = try TransferBench(fileLength: (3 << 20) + 100_000, processors: hasThread ? 2 : 1)
    bench.stream.nextTake = { .upTo(100_000) }
    bench.stream.onWrite = { [directory = bench.directory] in if $0 == 100_000 { directory.touch("set.wav") } }
    while bench.statusChanges.last != .beforeEnd(isDigested: true) { try bench.step(at: bench.now + 1) }
    #expect(bench.statusChanges == [.whileReading, .beforeEnd(isDigested: true)])
    #expect(bench.writtenAtStatusChange < bench.wire.count - 100_000)
    // The caller decides whether it continues.
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.stream.written == bench.wire)
  }

  /// What compares its parts later goes on.
  @Test func aNewStatusBeforeTheLastPagesIsReportedOnce() throws {
    let range = 0..<(3 << 20)
    let bench = try TransferBench(fileLength: range.count, ranges: [range])
    bench.stream.sendsFiles = true
    bench.stream.nextTake = { .upTo(100_000) }
    bench.stream.thenAnswer(stored(range.count), afterWritten: bench.wire(range).count)
    bench.directory.touch("set.wav")
    try bench.run()
    #expect(bench.stream.written == bench.wire(range))
    #expect(bench.statusChanges.filter { $0 == .beforeEnd(isDigested: false) }.count == 1)
  }

  /// The server can answer at once.
  @Test func aPartAtWhoseEndTheStatusIsNewCountsAsSent() throws {
    let range = 0..<(2 << 20)
    let bench = try TransferBench(fileLength: 3 << 20, ranges: [range])
    let wire = bench.wire(range)
    bench.stream.sendsFiles = true
    bench.stream.onWrite = { [directory = bench.directory] in if $0 == wire.count { directory.touch("set.wav") } }
    bench.stream.thenAnswer(stored(range.count), afterWritten: wire.count)
    while bench.response == nil { try bench.step() }
    #expect(bench.statusChanges == [.whileReading] && bench.last?.sent == .whole)
  }

  /// Until then, a process that is killed has not sent everything.
  @Test(arguments: [true, false])
  func theLastByteIsAnnouncedOnceBeforeItIsSent(sendsDirectly: Bool) throws {
    let bench = try TransferBench(fileLength: (5 << 20) + 100, announcesLastByte: true, sendsDirectly: sendsDirectly)
    bench.stream.sendsFiles = sendsDirectly
    bench.stream.nextTake = { .upTo(100_000) }
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.stream.written == bench.wire)
    #expect(bench.endings.count == 1)
    // Not when it is still far away.
    #expect(bench.endings[0] > 1 << 20 && bench.endings[0] <= bench.wire.count - TransferBench.closing.utf8.count)
  }

  @Test func theEndOfAFormThatCanBeRepeatedIsNotAnnounced() throws {
    let bench = try TransferBench(fileLength: fileLength)
    bench.stream.thenAnswer(accepted, afterWritten: bench.wire.count)
    try bench.run()
    #expect(bench.endings.isEmpty)
  }

  /// The head, the form and the whole file fit into the ring, so nothing was sent when the end is held back.
  @Test func theEndOfASmallFileIsHeldBackAsWell() throws {
    let bench = try TransferBench(fileLength: 1000)
    bench.directory.rewrite([0], in: "set.wav", at: 10)
    try bench.step()
    #expect(bench.statusChanges == [.beforeEnd(isDigested: true)] && bench.writtenAtStatusChange == 0)
  }
}
