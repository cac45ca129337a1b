import CShims
import Testing

@testable import Uploader

/// The hash thread by itself.
struct HashThreadTests {
  private let content = recording(3_000_000)

  private func wait(for thread: HashThread) {
    var entry = shim_poll_entry(
      descriptor: thread.descriptors[0], events: Readiness.readable.rawValue, ready: 0)
    _ = shim_poll(&entry, 1, -1)
  }

  @Test func runsAreDigestedInOrder() throws {
    let thread = try #require(HashThread())
    let digest = try FileDigest()
    content.withUnsafeBytes { content in
      for start in stride(from: 0, to: content.count, by: 100_000) {
        let run = UnsafeRawBufferPointer(rebasing: content[start..<start + 100_000])
        digest.update(run, at: Int64(start), on: thread, mark: Int64(start))
      }
      thread.wait()
    }
    #expect(digest.position == 3_000_000 && thread.oldestMark == nil)
    #expect(try digest.finish() == sha256(content))
  }

  @Test func runsInFlightAreDigestedBeforeNewOnes() throws {
    let thread = try #require(HashThread())
    let digest = try FileDigest()
    content.withUnsafeBytes { content in
      digest.update(UnsafeRawBufferPointer(rebasing: content[..<2_900_000]), at: 0, on: thread, mark: 0)
      digest.update(UnsafeRawBufferPointer(rebasing: content[2_900_000...]), at: 2_900_000)
    }
    #expect(try digest.finish() == sha256(content))
  }

  @Test func theNumberOfRunsInFlightIsLimited() throws {
    let thread = try #require(HashThread())
    let digest = try Digest(.sha256)
    var taken = 0
    content.withUnsafeBytes { content in
      while taken < 1000, thread.digest(content, into: digest.context, mark: Int64(taken)) { taken += 1 }
      thread.wait()
    }
    #expect(taken >= Int(SHIM_HASHER_MOST) && taken < 1000)
  }

  @Test func theEventComesWhenTheOldestIsDone() throws {
    let thread = try #require(HashThread())
    let digest = try Digest(.sha256)
    var isAwaited = false
    content.withUnsafeBytes { content in
      #expect(thread.digest(content, into: digest.context, mark: 7))
      isAwaited = thread.notify(doneWith: 7)
      if isAwaited { wait(for: thread) }
      #expect(!isAwaited || thread.oldestMark == nil)
      thread.wait()
    }
    #expect(!thread.notify(doneWith: 7))
    // It is lowered again.
    #expect(thread.oldestMark == nil)
    #expect(Readiness.of(thread.descriptors[0], .readable).isEmpty)
  }

  @Test func aDigestThatIsNotFinishedWaitsForWhatIsInFlight() throws {
    let thread = try #require(HashThread())
    try content.withUnsafeBytes { content in
      let digest = try FileDigest()
      digest.update(content, at: 0, on: thread, mark: 0)
    }
    #expect(thread.oldestMark == nil)
  }
}

/// Transfers with a hash thread.
struct HashedTransferTests {
  private let length = 9_000_001

  private func bench(
    _ ranges: [Range<Int>], _ digest: FileDigest, processors: Int = 2, buffers: TransferBuffers? = nil
  ) throws -> TransferBench {
    let bench = try TransferBench(
      fileLength: length, ranges: ranges, digest: digest, processors: processors, buffers: buffers)
    var wire = 0
    for range in ranges {
      wire += bench.wire(range).count
      bench.stream.thenAnswer(stored(range.upperBound), afterWritten: wire)
    }
    return bench
  }

  /// Writes of up to this many bytes, once in this many steps.
  @Test(arguments: [Int.max, 262_144, 99_991, 5000], [1, 3])
  func theDigestIsRightForAnySender(most: Int, turns: Int) throws {
    let digest = try FileDigest()
    let bench = try bench([0..<length], digest)
    var turn = 0
    bench.stream.nextTake = {
      turn += 1
      return turn % turns == 0 ? .upTo(most) : .notReady
    }
    try bench.run()
    expectSame(bench.stream.written, bench.wire(0..<length))
    #expect(try digest.finish() == sha256(bench.content))
  }

  /// The hash thread is busy with something else, and digests the runs late.
  @Test(arguments: [1, 2, 3])
  func theRunsWaitForASlowDigest(busyRuns: Int) throws {
    let thread = try #require(HashThread())
    let other = try Digest(.sha256)
    let noise = recording(2_000_000)
    let digest = try FileDigest()
    let buffers = TransferBuffers(processors: 2, thread: thread)
    let bench = try bench([0..<length], digest, buffers: buffers)
    try noise.withUnsafeBytes { noise in
      // In front of the runs that follow.
      for _ in 0..<busyRuns { #expect(thread.digest(noise, into: other.context, mark: 0)) }
      try bench.run()
      thread.wait()
    }
    expectSame(bench.stream.written, bench.wire(0..<length))
    #expect(try digest.finish() == sha256(bench.content))
  }

  /// Heads between the ranges are between the runs in the ring.
  @Test func requestsThatFollowEachOtherShareTheRing() throws {
    let digest = try FileDigest()
    let cuts = [0, 2_100_000, 2_100_001, 2_200_000, 5_000_000, 5_262_144, length]
    let ranges = zip(cuts, cuts.dropFirst()).map { $0..<$1 }
    let bench = try bench(ranges, digest)
    bench.stream.nextTake = { .upTo(200_000) }
    try bench.run()
    expectSame(bench.stream.written, ranges.flatMap { bench.wire($0) })
    #expect(try digest.finish() == sha256(bench.content))
  }

  /// The second request's head starts in the last bytes before the ring's wrap, and after the wrap there is no room until the
  /// first request's last runs are digested.
  @Test(arguments: [1, 40])
  func aHeadWaitsAtTheWrapForTheDigest(bytesInFront: Int) throws {
    let window = 2 * Limits.hashedRunLength
    let first = 5 * window - bytesInFront - TransferBench.patchHead(0..<5 * window).utf8.count
    let thread = try #require(HashThread())
    let digest = try FileDigest()
    let bench = try bench(
      [0..<first, first..<length], digest, buffers: TransferBuffers(processors: 2, thread: thread))
    // The connection accepts a little at a time until four windows were read and submitted.
    var room = 0
    bench.stream.nextTake = { [unowned stream = bench.stream] in
      room > stream.written.count ? .upTo(room - stream.written.count) : .notReady
    }
    while digest.position < first - window + bytesInFront {
      room += 4096
      thread.wait()
      try bench.step(.writable)
    }
    // Later reads are digested after this, so the ring is full when the head comes.
    let noise = UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 16))
    defer { noise.deallocate() }
    let other = try Digest(.sha256)
    #expect(thread.digest(noise, into: other.context, mark: 0))
    room = .max
    try bench.run()
    thread.wait()
    expectSame(bench.stream.written, bench.wire(0..<first, first..<length))
    #expect(try digest.finish() == sha256(bench.content))
  }

  @Test func aTransferThatEndsInTheMiddleLeavesNothingInFlight() throws {
    let buffers = TransferBuffers(processors: 2)
    let digest = try FileDigest()
    var first: TransferBench? = try bench([0..<length], digest, buffers: buffers)
    for _ in 0..<7 { try first?.step(.writable) }
    let position = digest.position
    first = nil
    #expect(position > 0)
    // The next one has the ring to itself, and sends the same bytes again.
    let second = try bench([0..<length], digest, buffers: buffers)
    try second.run()
    expectSame(second.stream.written, second.wire(0..<length))
    #expect(try digest.finish() == sha256(second.content))
  }

  @Test func theMemoryMayGoBeforeTheDigest() throws {
    let digest = try FileDigest()
    do {
      let bench = try bench([0..<length], digest, buffers: TransferBuffers(processors: 2))
      for _ in 0..<5 { try bench.step(.writable) }
    }
    #expect(digest.position > 0)
  }

  @Test(arguments: [(1, 1), (2, 1), (2, 2), (8, 16)])
  func thereIsASecondThreadOnlyForOneJobOnSeveralProcessors(processors: Int, jobs: Int) {
    let buffers = TransferBuffers(jobs: jobs, processors: processors)
    buffers.clear(digestedLength: 1 << 30)
    #expect(buffers.usesThread == (processors > 1 && jobs == 1))
    // Not for a short range, and not without a digest.
    buffers.clear(digestedLength: 2_000_000)
    #expect(!buffers.usesThread)
    buffers.clear()
    #expect(!buffers.usesThread && buffers.ring.window == buffers.ring.capacity)
  }
}
