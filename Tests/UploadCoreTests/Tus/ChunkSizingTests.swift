import Testing

@testable import UploadCore

private let mebibyte: Int64 = 1 << 20
private let gibibyte: Int64 = 1 << 30

struct ChunkSizingTests {
  private let plenty: Int64 = 1 << 50

  /// Stores requests of the chosen length until this many bytes are stored.
  private func store(_ total: Int64, with sizing: inout ChunkSizing) -> [Int64] {
    var lengths: [Int64] = []
    var stored: Int64 = 0
    while stored < total {
      let length = sizing.next(remaining: plenty)
      lengths.append(length)
      sizing.stored(length)
      stored += length
    }
    return lengths
  }

  private func halve(_ sizing: inout ChunkSizing, at length: Int64, isPossible: Bool = true) {
    let result = sizing.refused(requestLength: length)
    #expect(result == isPossible)
  }

  @Test func requestsGrowAfter256MebibytesUpTo90Mebibytes() {
    var sizing = ChunkSizing()
    #expect(store(256 * mebibyte, with: &sizing) == [Int64](repeating: 8 * mebibyte, count: 32))
    let lengths = store(gibibyte, with: &sizing)
    #expect(lengths.prefix(4) == [16 * mebibyte, 32 * mebibyte, 64 * mebibyte, 90 * mebibyte])
    #expect(lengths.dropFirst(4).allSatisfy { $0 == 90 * mebibyte })
  }

  // MARK: Interruptions

  /// Nothing is learned from a request that was stored completely but whose response was lost, from one of which little was sent, nor from
  /// one that had arrived as a whole: what passes it on may have ended in the middle of that.
  @Test(arguments: [(8 << 20, 8 << 20), (0, 0), (0, 262_143), (1 << 20, 8 << 20)] as [(Int64, Int64)])
  func anInterruptionWithoutInformationChangesNothing(kept: Int64, sent: Int64) {
    var unknown = ChunkSizing()
    unknown.interrupted(kept: kept, arrived: sent, requestLength: 8 * mebibyte)
    #expect(unknown.next(remaining: plenty) == 8 * mebibyte)
    var streaming = ChunkSizing()
    streaming.interrupted(kept: 5, arrived: 10, requestLength: 8 * mebibyte)
    streaming.interrupted(kept: kept, arrived: sent, requestLength: 8 * mebibyte)
    #expect(streaming.next(remaining: plenty) == plenty)
  }

  @Test func aServerThatNoLongerKeepsPartsIsNotTrusted() {
    var sizing = ChunkSizing()
    sizing.interrupted(kept: 5, arrived: 10, requestLength: 8 * mebibyte)
    sizing.interrupted(kept: 0, arrived: 262_144, requestLength: gibibyte)
    #expect(sizing.next(remaining: plenty) == 8 * mebibyte)
  }

  @Test func requestsAreShortAgainAfterAnInterruption() {
    var sizing = ChunkSizing()
    _ = store(gibibyte, with: &sizing)
    #expect(sizing.next(remaining: plenty) == 90 * mebibyte)
    sizing.interrupted(kept: 0, arrived: 50_000_000, requestLength: 90 * mebibyte)
    #expect(store(256 * mebibyte, with: &sizing) == [Int64](repeating: 8 * mebibyte, count: 32))
    #expect(sizing.next(remaining: plenty) == 16 * mebibyte)
  }

  // MARK: Refusals (413)

  @Test func allLengthsButTheLastAreMultiplesOf256KibibytesUntilTheServerRefusesThat() {
    var sizing = ChunkSizing()
    var lengths = store(gibibyte, with: &sizing)
    sizing.answered(afterMilliseconds: 100)
    sizing.interrupted(kept: 0, arrived: gibibyte, requestLength: lengths[lengths.count - 1])
    lengths += store(256 * mebibyte, with: &sizing)
    var refused = sizing.next(remaining: plenty)
    // The rest of a file was refused, and 5,000,001 is no multiple of anything.
    halve(&sizing, at: 5_000_001)
    while sizing.next(remaining: plenty) > 262_144 {
      refused = sizing.next(remaining: plenty)
      lengths.append(refused)
      halve(&sizing, at: refused)
    }
    lengths.append(sizing.next(remaining: plenty))
    #expect(lengths.allSatisfy { $0 % 262_144 == 0 && $0 <= 94_371_840 })
  }

  @Test func aHalvedLengthDoesNotGrowAgain() {
    var sizing = ChunkSizing()
    halve(&sizing, at: 8 * mebibyte)
    #expect(store(gibibyte, with: &sizing).allSatisfy { $0 == 4 * mebibyte })
    // Not for a server that keeps parts, either.
    sizing.interrupted(kept: 5, arrived: 10, requestLength: 4 * mebibyte)
    #expect(sizing.next(remaining: plenty) == 4 * mebibyte)
  }

  @Test func aShortRestThatIsRefusedIsNotMadeShorter() {
    var sizing = ChunkSizing()
    halve(&sizing, at: 65_536, isPossible: false)
    halve(&sizing, at: 1, isPossible: false)
    halve(&sizing, at: 65_537)
    #expect(sizing.next(remaining: plenty) == 65_536)
  }

  // MARK: Fixed length

  @Test func aPinnedLengthStaysWhateverHappens() {
    var sizing = ChunkSizing(pinned: 1_000_000)
    sizing.answered(afterMilliseconds: 500)
    #expect(!sizing.pipelines)
    #expect(store(gibibyte, with: &sizing).allSatisfy { $0 == 1_000_000 })
    sizing.interrupted(kept: 5, arrived: 500_000, requestLength: 1_000_000)
    #expect(sizing.next(remaining: plenty) == 1_000_000)
    sizing.interrupted(kept: 0, arrived: 500_000, requestLength: 1_000_000)
    #expect(sizing.next(remaining: plenty) == 1_000_000)
    #expect(sizing.next(remaining: 999_999) == 999_999)
  }

  @Test func aPinnedLengthSurvivesALock() {
    var sizing = ChunkSizing(pinned: 5_000_000)
    for _ in 0..<3 {
      sizing.locked()
      #expect(sizing.next(remaining: plenty) == 5_000_000)
      sizing.interrupted(kept: 0, arrived: 0, requestLength: 5_000_000)
      #expect(sizing.next(remaining: plenty) == 5_000_000)
    }
    sizing.stored(5_000_000)
    #expect(sizing.next(remaining: plenty) == 5_000_000)
  }

  @Test func aPinnedLengthOver90MebibytesIsTheUsersOwnRisk() {
    #expect(ChunkSizing(pinned: gibibyte).next(remaining: plenty) == gibibyte)
  }

  @Test func aRefusedPinnedLengthIsStillHalved() {
    var sizing = ChunkSizing(pinned: gibibyte)
    halve(&sizing, at: gibibyte)
    #expect(sizing.next(remaining: plenty) == gibibyte / 2)
  }

  // MARK: Distance

  @Test func overADistanceTwoHalvesOverlap() {
    var sizing = ChunkSizing()
    #expect(!sizing.pipelines)
    sizing.answered(afterMilliseconds: 20)
    #expect(sizing.pipelines && sizing.next(remaining: plenty) == 4 * mebibyte)
    sizing.answered(afterMilliseconds: 19)
    #expect(!sizing.pipelines && sizing.next(remaining: plenty) == 8 * mebibyte)
  }

  /// And goes alone.
  @Test func aRequestThatTriesTheLinkIsShort() {
    var sizing = ChunkSizing()
    sizing.answered(afterMilliseconds: 20)
    sizing.tryLink()
    #expect(!sizing.pipelines && sizing.next(remaining: plenty) == 2 * mebibyte)
    sizing.stored(2 * mebibyte)
    #expect(sizing.pipelines && sizing.next(remaining: plenty) == 4 * mebibyte)
    var pinned = ChunkSizing(pinned: 5 * mebibyte)
    pinned.tryLink()
    #expect(pinned.next(remaining: plenty) == 5 * mebibyte)
  }

  @Test func longRequestsNeedNoOverlap() {
    var sizing = ChunkSizing()
    sizing.answered(afterMilliseconds: 100)
    _ = store(256 * mebibyte, with: &sizing)
    #expect(!sizing.pipelines && sizing.next(remaining: plenty) == 16 * mebibyte)
  }

  // MARK: A time limit for whole requests

  /// Cuts a request of the chosen length, and expects this length for the next.
  private func cut(_ sizing: inout ChunkSizing, after milliseconds: Int64?, next: Int64) {
    sizing.interrupted(
      kept: 0, arrived: mebibyte, requestLength: sizing.next(remaining: plenty), cutAfterMilliseconds: milliseconds)
    #expect(sizing.next(remaining: plenty) == next)
  }

  @Test func requestsThatAreStoppedAfterTheSameTimeGetShorterAndGrowAgain() {
    var sizing = ChunkSizing()
    cut(&sizing, after: 60_000, next: 8 * mebibyte)
    cut(&sizing, after: 60_400, next: 4 * mebibyte)
    cut(&sizing, after: 59_000, next: 2 * mebibyte)
    #expect(
      store(64 * mebibyte, with: &sizing) == [Int64](repeating: 2 * mebibyte, count: 16)
        + [Int64](repeating: 4 * mebibyte, count: 8))
    // What is known of the limit stays known.
    cut(&sizing, after: 61_000, next: 2 * mebibyte)
    for next in [1024, 512, 256, 256] as [Int64] { cut(&sizing, after: 60_000, next: next * 1024) }
    #expect(sizing.isOutOfTime(after: 61_000) && !sizing.isOutOfTime(after: 1000) && !sizing.isOutOfTime(after: nil))
    _ = store(gibibyte, with: &sizing)
    #expect(!sizing.isOutOfTime(after: 60_000))
    #expect(sizing.next(remaining: plenty) == 90 * mebibyte)
  }

  /// 20 % of the longer time.
  @Test(
    arguments: [(60_000, 48_000, 4), (60_000, 47_999, 8), (48_000, 60_000, 4), (47_999, 60_000, 8), (60_000, nil, 8)]
      as [(Int64, Int64?, Int64)])
  func onlyAboutTheSameTimeIsALimit(first: Int64, second: Int64?, mebibytes: Int64) {
    var sizing = ChunkSizing()
    cut(&sizing, after: first, next: 8 * mebibyte)
    cut(&sizing, after: second, next: mebibytes * mebibyte)
  }

  @Test func aLinkThatDropsIsNoLimit() {
    var sizing = ChunkSizing()
    for _ in 0..<9 { cut(&sizing, after: nil, next: 8 * mebibyte) }
  }

  @Test func aRequestThatIsKeptInPartIsNoLimit() {
    var sizing = ChunkSizing(pinned: mebibyte)
    for _ in 0..<9 {
      sizing.interrupted(kept: 5, arrived: 9, requestLength: mebibyte, cutAfterMilliseconds: 60_000)
    }
    #expect(!sizing.isOutOfTime(after: 60_000))
  }

  @Test func aLengthThatIsSetStays() {
    var sizing = ChunkSizing(pinned: 20_000_000)
    cut(&sizing, after: 60_000, next: 20_000_000)
    #expect(!sizing.isOutOfTime(after: 60_000))
    cut(&sizing, after: 60_000, next: 20_000_000)
    #expect(sizing.isOutOfTime(after: 60_000))
  }
}
