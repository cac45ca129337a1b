import CShims
import Testing

@testable import Uploader

/// The digest of a file of which a part was sent earlier, by another process or over another connection.
struct TransferDigestTests {
  private let length = 3_000_000

  /// A transfer of the end of a file, with a connection that is not always ready.
  private func resume(
    at offset: Int, of length: Int = 3_000_000, digest: FileDigest, jobs: Int = 1, processors: Int = 1,
    readyOnceIn turns: Int
  ) throws -> TransferBench {
    let bench = try TransferBench(
      fileLength: length, ranges: [offset..<length], digest: digest, jobs: jobs, processors: processors)
    var turn = 0
    bench.stream.nextTake = {
      turn += 1
      return turn % turns == 0 ? .upTo(100_000) : .notReady
    }
    bench.stream.thenAnswer(stored(length), afterWritten: bench.wire(offset..<length).count)
    return bench
  }

  /// Reads the bytes that the digest has not seen.
  private func readRest(of bench: TransferBench, jobs: Int, processors: Int) throws {
    let digest = try #require(bench.digest)
    let buffers = TransferBuffers(jobs: jobs, processors: processors)
    let reading = try FileHasher(TransferSource(file: bench.file, digest: digest), .wholeFile, buffers: buffers)
    while try reading.step([], nowMilliseconds: 0) != nil {}
    #expect(try reading.hashed() == .wholeFile(sha256: sha256(bench.content)))
  }

  /// On two processors a long file is digested by a second thread.
  @Test(
    arguments: [1, 262_143, 262_144, 524_287, 524_288, 524_289, 1_500_000, 2_999_999], [(1, 1), (16, 1), (1, 2)])
  func afterAResumeTheDigestIsThatOfTheWholeFile(offset: Int, sharing: (jobs: Int, processors: Int)) throws {
    let (jobs, processors) = sharing
    let length = processors == 1 ? 3_000_000 : 9_000_001
    let bench = try resume(
      at: offset, of: length, digest: try FileDigest(), jobs: jobs, processors: processors, readyOnceIn: 3)
    try bench.run()
    expectSame(bench.stream.written, bench.wire(offset..<length))
    try readRest(of: bench, jobs: jobs, processors: processors)
    #expect(bench.digest?.position == Int64(length))
    #expect(try bench.digest?.finish() == sha256(bench.content))
  }

  @Test func whileTheConnectionTakesNothingTheDigestCatchesUp() throws {
    let digest = try FileDigest()
    let bench = try resume(at: 2_000_000, digest: digest, readyOnceIn: .max)
    for _ in 0..<10 { try bench.step(.writable) }
    // Up to what is in the ring, and no byte of the ring is touched.
    #expect(digest.position >= 2_000_000)
    #expect(bench.stream.written.isEmpty)
    bench.stream.nextTake = { .upTo(.max) }
    try bench.run()
    #expect(bench.stream.written == bench.wire(2_000_000..<length))
  }

  @Test func whileThereIsMoreToCatchUpTheLoopDoesNotSleep() throws {
    let digest = try FileDigest()
    let bench = try resume(at: 2_000_000, digest: digest, readyOnceIn: .max)
    let wait = try #require(try bench.step(.writable, at: 5000))
    #expect(wait.untilMilliseconds <= 5000 && digest.position == 524_288)
    for _ in 0..<10 { try bench.step(.writable, at: 5000) }
    let idle = try #require(try bench.step(.writable, at: 5000))
    #expect(idle.untilMilliseconds > 5000)
  }

  /// After an interruption, bytes are sent a second time.
  @Test func bytesThatGoOutTwiceCountOnce() throws {
    let digest = try FileDigest()
    try resume(at: 0, digest: digest, readyOnceIn: 2).run()
    let bench = try resume(at: 700_000, digest: digest, readyOnceIn: 2)
    try bench.run()
    #expect(try digest.finish() == sha256(bench.content))
  }

  @Test func aFileThatShrinksWhileTheDigestCatchesUpIsAnError() throws {
    let bench = try resume(at: 2_000_000, digest: try FileDigest(), readyOnceIn: .max)
    try bench.step(.writable)
    bench.directory.truncate("set.wav", to: 10)
    #expect {
      for _ in 0..<10 { try bench.step(.writable) }
    } throws: { error in
      guard case UploadError.file(bench.file.path, .shrank) = error else { return false }
      return true
    }
  }
}

struct FileReadingTests {
  private let directory = TemporaryDirectory()
  private let content = recording(1_300_000)

  private func file() throws -> SourceFile {
    try SourceFile.open(directory.file("set.wav", content), limit: .max)
  }

  private func hasher(_ range: HashRange, _ digest: FileDigest? = nil) throws -> FileHasher {
    try FileHasher(TransferSource(file: try file(), digest: digest), range, buffers: TransferBuffers())
  }

  private func run(_ reading: FileHasher) throws(UploadError) -> Int {
    for steps in 0..<1000 where try reading.step([], nowMilliseconds: 7) == nil { return steps }
    return 1000
  }

  @Test(arguments: [1, 16])
  func aFileIsReadRunByRun(jobs: Int) throws {
    let buffers = TransferBuffers(jobs: jobs)
    let source = TransferSource(file: try file(), digest: try FileDigest())
    let reading = try FileHasher(source, .wholeFile, buffers: buffers)
    let wait = try #require(try reading.step([], nowMilliseconds: 7))
    #expect(wait.descriptor == -1 && wait.untilMilliseconds <= 7)
    // 512 KiB at a time, or a part of that. The first run is read.
    let runs = (1_300_000 + buffers.runLength - 1) / buffers.runLength
    #expect(try run(reading) == runs - 1 && (jobs > 1 || runs == 3))
    #expect(try reading.hashed() == .wholeFile(sha256: sha256(content)))
  }

  @Test func aChecksumIsOfItsRangeAlone() throws {
    let digest = try FileDigest()
    let reading = try hasher(.range(.sha256, offset: 100_000, length: 800_000), digest)
    _ = try run(reading)
    #expect(
      try reading.hashed() == .range(digest: hex(sha256(Array(content[100_000..<900_000])))))
    // The file's own digest has a gap before it.
    #expect(digest.position == 0)
  }

  private func wait(_ wait: Wait) {
    var entry = shim_poll_entry(descriptor: wait.descriptor, events: wait.readiness.rawValue, ready: 0)
    _ = shim_poll(&entry, 1, -1)
  }

  /// While the thread digests something else, too.
  @Test func whatAnotherThreadHasReadIsNotReadAgain() throws {
    let (file, buffers, range) = (
      try file(), TransferBuffers(processors: 2), HashRange.range(.sha256, offset: 100_000, length: 1_200_000)
    )
    // Others that are of no use any more.
    for length in [Int64(1), 1_300_000, 40_000] {
      #expect(buffers.hashAhead(.range(.sha256, offset: 0, length: length), of: file) != nil)
    }
    let ahead = try #require(buffers.hashAhead(range, of: file))
    let digest = try FileDigest()
    buffers.clear(digestedLength: Limits.hashThreadFrom)
    buffers.fileRun.copyBytes(from: content[..<1000])
    buffers.commit(1000, at: 0, digest: digest)
    let source = TransferSource(file: file, digest: try FileDigest())
    let reading = try FileHasher(source, range, ahead: ahead, buffers: TransferBuffers())
    while let next = try reading.step([], nowMilliseconds: 0) { wait(next) }
    #expect(try reading.hashed() == .range(digest: hex(sha256(Array(content[100_000...])))))
    #expect(source.digest?.position == 0)
    #expect(try digest.finish() == sha256(Array(content[..<1000])))
  }

  @Test func whatAnotherThreadCannotReadIsReadHere() throws {
    let (file, buffers, range) = (
      try file(), TransferBuffers(processors: 2), HashRange.range(.sha256, offset: 0, length: 1_300_001)
    )
    let ahead = try #require(buffers.hashAhead(range, of: file))
    let reading = try FileHasher(
      TransferSource(file: file, digest: nil), range, ahead: ahead, buffers: TransferBuffers())
    #expect {
      while let next = try reading.step([], nowMilliseconds: 0) { if next.descriptor >= 0 { wait(next) } }
    } throws: { error in
      guard case UploadError.file(file.path, .shrank) = error else { return false }
      return true
    }
  }

  @Test func nothingIsReadAheadWithOneProcessor() throws {
    #expect(TransferBuffers(processors: 1).hashAhead(.range(.sha256, offset: 0, length: 9), of: try file()) == nil)
    #expect(TransferBuffers(processors: 2).hashAhead(.wholeFile, of: try file()) == nil)
  }

  @Test func aChecksumCanBeOfTheKindThatEachServerHas() throws {
    let reading = try hasher(.range(.sha1, offset: 5, length: 9))
    _ = try run(reading)
    let digest = try Digest(.sha1)
    content[5..<14].withUnsafeBytes { digest.update($0) }
    #expect(try reading.hashed() == .range(digest: try digest.finish()))
  }

  /// Bytes that were hashed while they were sent are not read again.
  @Test func aRangeThatComesNextIsAPartOfTheFilesDigest() throws {
    let digest = try FileDigest()
    let source = TransferSource(file: try file(), digest: digest)
    _ = try run(FileHasher(source, .range(.sha256, offset: 0, length: 1_000_000), buffers: TransferBuffers()))
    #expect(digest.position == 1_000_000)
    let rest = try FileHasher(source, .wholeFile, buffers: TransferBuffers())
    #expect(try run(rest) == 1)
    #expect(try rest.hashed() == .wholeFile(sha256: sha256(content)))
  }

  @Test func theBeginningIsAPartOfTheFilesDigest() throws {
    let source = TransferSource(file: try file(), digest: try FileDigest())
    let reading = try FileHasher(source, .beginning(length: 1_000_000), buffers: TransferBuffers())
    _ = try run(reading)
    #expect(try reading.hashed() == .beginning(sha256: sha256(Array(content[..<1_000_000]))))
    #expect(source.sentPart?.length == 1_000_000 && source.sentPart?.sha256 == sha256(Array(content[..<1_000_000])))
    let rest = try FileHasher(source, .wholeFile, buffers: TransferBuffers())
    #expect(try run(rest) == 1)
    #expect(try rest.hashed() == .wholeFile(sha256: sha256(content)))
    #expect(source.sentPart?.sha256 == sha256(content))
  }

  @Test func aBeginningThatIsTouchedWhileItIsReadIsNotStable() throws {
    let source = TransferSource(file: try file(), digest: try FileDigest())
    let reading = try FileHasher(source, .beginning(length: 1_000_000), buffers: TransferBuffers())
    directory.touch("set.wav")
    _ = try run(reading)
    #expect(try reading.hashed() == .beginning(sha256: sha256(Array(content[..<1_000_000])), isStable: false))
  }

  /// What another process has sent was read again after the change, and says nothing of what the server has.
  @Test func bytesThatWereReadAgainAfterAChangeAreNotKnownToBeSent() throws {
    let source = TransferSource(file: try file(), digest: try FileDigest())
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
    defer { space.deallocate() }
    // The next bytes go out before the digest has those before them.
    _ = try source.readToSend(into: space, at: 500)
    directory.touch("set.wav")
    _ = try run(FileHasher(source, .beginning(length: 1000), buffers: TransferBuffers()))
    #expect(source.sentPart == nil)
  }

  /// As after a lost connection: the digest has what was read first.
  @Test func bytesThatAreSentAgainAfterAChangeAreKnown() throws {
    let source = TransferSource(file: try file(), digest: try FileDigest())
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
    defer { space.deallocate() }
    _ = try source.read(into: space, at: 0)
    directory.touch("set.wav")
    _ = try source.readToSend(into: space, at: 50)
    #expect(try source.hasStatusChanged() && source.isDigested)
    _ = try source.readToSend(into: space, at: 200)
    #expect(!source.isDigested)
  }

  @Test func anEmptyRangeNeedsNoStep() throws {
    #expect(try hasher(.range(.sha256, offset: 5, length: 0)).step([], nowMilliseconds: 0) == nil)
  }

  @Test func withoutADigestOfWhatWasSentNothingIsTheSame() throws {
    let reading = try hasher(.wholeFileAgain)
    _ = try run(reading)
    #expect(
      try reading.hashed() == .wholeFileAgain(sent: sha256([]), now: sha256(content), isStable: true))
  }

  @Test func aFileThatShrankIsAnError() throws {
    let file = try file()
    directory.truncate("set.wav", to: 600_000)
    let reading = try FileHasher(
      TransferSource(file: file, digest: try FileDigest()), .wholeFile, buffers: TransferBuffers())
    #expect(throws: UploadError.file(file.path, .shrank(size: 1_300_000, to: 600_000))) { try run(reading) }
  }
}
