import Testing

@testable import UploadCore

extension LinkCounts {
  /// 8 MiB over a round trip of 100 ms, of which 1 % is lost.
  static var lossy: LinkCounts {
    var counts = LinkCounts()
    (counts.segments, counts.repeatedSegments, counts.duplicateSegments) = (6000, 60, 0)
    (counts.roundTripMicroseconds, counts.leastRoundTripMicroseconds) = (100_000, 99_000)
    counts.busyMicroseconds = 50_000_000
    return counts
  }
}

struct LinkCountsTests {
  /// The first megabyte is sent without a loss.
  @Test func onlyWhatWasCountedSinceTheLastResponseCounts() {
    var (before, now) = (LinkCounts.lossy, LinkCounts.lossy)
    (before.segments, before.repeatedSegments, before.duplicateSegments, before.busyMicroseconds) = (750, 1, 0, 800_000)
    before.roundTripMicroseconds = 300_000
    now.segments = 6000 + 750
    now.repeatedSegments = 60 + 1
    now.busyMicroseconds = 50_000_000 + 800_000
    #expect(now.since(before) == .lossy)
    #expect(before.since(now) == before && now.since(LinkCounts()) == now)
  }

  private func limits(_ change: (inout LinkCounts) -> Void) -> Bool {
    var counts = LinkCounts.lossy
    change(&counts)
    return counts.showLimitByLoss
  }

  @Test func aLossySlowLinkIsLimitedByLoss() {
    #expect(LinkCounts.lossy.showLimitByLoss)
    #expect(limits { $0.duplicateSegments = nil })
  }

  /// Of 6,000 segments, 30 are a two-hundredth.
  @Test func lossMustBeMuch() {
    #expect(!limits { ($0.repeatedSegments, $0.busyMicroseconds) = (29, 35_000_000) })
    #expect(limits { ($0.repeatedSegments, $0.busyMicroseconds) = (30, 35_000_000) })
    // What arrived twice was not lost.
    #expect(!limits { ($0.repeatedSegments, $0.duplicateSegments, $0.busyMicroseconds) = (60, 31, 35_000_000) })
    // Four segments are no evidence.
    #expect(!limits { ($0.segments, $0.repeatedSegments, $0.busyMicroseconds) = (400, 4, 3_300_000) })
  }

  /// 12 segments on the way, where 1 % is lost, are what congestion control keeps.
  @Test(arguments: [
    // More than twice as many: it takes no loss for congestion.
    (30_000_000, true), (29_000_000, false),
    // Half as many: something else is slower.
    (103_000_000, true), (105_000_000, false),
    // 256 and more.
    (2_000_000, false), (1, false), (0, false),
  ])
  func asManySegmentsMustBeOnTheWayAsTheLossAllows(_ busy: Int64, _ isLimited: Bool) {
    #expect(limits { $0.busyMicroseconds = busy } == isLimited)
  }

  @Test func aQueueShowsThatTheLinkIsFull() {
    #expect(limits { $0.leastRoundTripMicroseconds = 45_000 })
    #expect(!limits { $0.leastRoundTripMicroseconds = 44_999 })
  }

  @Test func whatTheKernelDoesNotCountShowsNothing() {
    #expect(!LinkCounts().showLimitByLoss)
    #expect(!limits { $0.segments = nil } && !limits { $0.repeatedSegments = nil })
    #expect(!limits { $0.busyMicroseconds = nil } && !limits { $0.roundTripMicroseconds = nil })
    #expect(!limits { $0.leastRoundTripMicroseconds = nil })
  }

  @Test func absurdCountsAreBorne() {
    #expect(!limits { $0.segments = .max } && !limits { $0.roundTripMicroseconds = .max })
    #expect(
      !limits { ($0.segments, $0.repeatedSegments, $0.busyMicroseconds) = ((1 << 32) - 1, (1 << 32) - 1, 1) })
    #expect(!limits { $0.segments = 0 })
  }
}
