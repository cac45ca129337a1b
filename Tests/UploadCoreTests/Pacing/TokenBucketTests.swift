import Testing
import UploadCore

struct TokenBucketTests {
  /// Writes as much as allowed whenever the limiter says so, until the time has passed.
  /// - Returns: the bytes written, and the number of writes.
  private func run(
    _ bytesPerSecond: Int64, milliseconds: Int64, most: Int = .max
  ) -> (written: Int, writes: Int) {
    var limiter = TokenBucket(bytesPerSecond: bytesPerSecond)
    var (now, written, writes): (Int64, Int, Int) = (5_000_000, 0, 0)
    let end = now + milliseconds
    for _ in 0..<1_000_000 where now < end {
      let count = min(most, limiter.allowance(nowMilliseconds: now))
      if count > 0 {
        limiter.consume(count)
        written += count
        writes += 1
      }
      now = max(now, limiter.nextMilliseconds(nowMilliseconds: now))
    }
    return (written, writes)
  }

  @Test(arguments: [1, 2, 4, 5, 7, 999, 1000, 56_000, 1_000_000, 125_000_000, 1_000_000_000] as [Int64])
  func overTenSecondsTheRateIsKept(bytesPerSecond: Int64) {
    let written = Int64(run(bytesPerSecond, milliseconds: 10_000).written)
    // Not a byte more than ten seconds allow, and no less, except for the last write.
    #expect(written <= bytesPerSecond * 10)
    #expect(written >= bytesPerSecond * 10 - max(bytesPerSecond / 5, 1))
  }

  @Test func aWriteIsWorthItsSystemCall() {
    let outcome = run(1_000_000, milliseconds: 10_000)
    #expect(outcome.writes <= 201 && outcome.writes >= 40)
  }

  @Test func nothingIsAllowedAtTheBeginning() {
    var limiter = TokenBucket(bytesPerSecond: 1_000_000)
    #expect(limiter.allowance(nowMilliseconds: 1000) == 0)
    #expect(limiter.nextMilliseconds(nowMilliseconds: 1000) == 1050)
    #expect(limiter.allowance(nowMilliseconds: 1049) == 0)
    #expect(limiter.allowance(nowMilliseconds: 1050) == 50_000)
    #expect(TokenBucket(bytesPerSecond: 1).nextMilliseconds(nowMilliseconds: 1000) == 2000)
  }

  @Test func aPauseIsNotMadeUpFor() {
    var limiter = TokenBucket(bytesPerSecond: 1_000_000)
    _ = limiter.allowance(nowMilliseconds: 0)
    #expect(limiter.allowance(nowMilliseconds: 3_600_000) == 200_000)
  }

  @Test func anUnusedAllowanceStays() {
    var limiter = TokenBucket(bytesPerSecond: 1_000_000)
    _ = limiter.allowance(nowMilliseconds: 0)
    #expect(limiter.allowance(nowMilliseconds: 100) == 100_000)
    limiter.consume(40_000)
    #expect(limiter.allowance(nowMilliseconds: 100) == 60_000)
    limiter.consume(60_000)
    #expect(limiter.allowance(nowMilliseconds: 100) == 0)
  }

  @Test func theHighestRateIsNoTrouble() {
    var limiter = TokenBucket(bytesPerSecond: Limits.rate)
    _ = limiter.allowance(nowMilliseconds: 0)
    #expect(limiter.allowance(nowMilliseconds: .max / 2) == 200_000_000_000)
  }

  @Test func aClockThatStandsStillOrGoesBackAllowsNothing() {
    var limiter = TokenBucket(bytesPerSecond: 1_000_000)
    _ = limiter.allowance(nowMilliseconds: 1000)
    #expect(limiter.allowance(nowMilliseconds: 1000) == 0)
    #expect(limiter.allowance(nowMilliseconds: 500) == 0)
  }
}
