import Testing
import UploadCore

struct RetryPolicyTests {
  private let policy = RetryPolicy(.failures(5), maximumDelayMilliseconds: 60_000)

  /// Delays for many random numbers, and for the smallest and largest one.
  private func delays(
    _ policy: RetryPolicy, afterFailures failures: Int64, retryAfterMilliseconds: Int64? = nil
  ) -> [Int64] {
    var random = SeededGenerator(seed: UInt64(failures))
    let numbers = [0, .max] + (0..<20_000).map { _ in random.next() }
    return numbers.compactMap {
      delay(policy, afterFailures: failures, retryAfterMilliseconds: retryAfterMilliseconds, random: $0)
    }
  }

  private func delay(
    _ policy: RetryPolicy, afterFailures failures: Int64, for elapsed: Int64 = 0, retryAfterMilliseconds: Int64? = nil,
    random: UInt64 = 0
  ) -> Int64? {
    policy.delay(
      afterFailures: failures,
      within: policy.remainder(afterFailures: failures, failingForMilliseconds: elapsed),
      retryAfterMilliseconds: retryAfterMilliseconds, random: random)
  }

  /// Between half of a step and all of it.
  @Test(arguments: [(1, 1000), (2, 4000), (3, 16_000), (4, 60_000), (5, 60_000)] as [(Int64, Int64)])
  func delaysAreSpreadOverTheUpperHalfOfAStepThatGrows(failures: Int64, step: Int64) throws {
    let delays = delays(policy, afterFailures: failures)
    #expect(delays.count == 20_002)
    let shortest = try #require(delays.min())
    let longest = try #require(delays.max())
    #expect(shortest >= step / 2 && shortest <= step * 51 / 100)
    #expect(longest <= step && longest >= step * 99 / 100)
    // Evenly.
    let mean = delays.reduce(0, +) / Int64(delays.count)
    #expect(mean > step * 74 / 100 && mean < step * 76 / 100)
  }

  @Test func fiveRetriesOutlastAServerThatRestarts() {
    let shortest = (1...5).compactMap { delay(policy, afterFailures: $0) }.reduce(0, +)
    #expect(shortest > 60_000)
  }

  @Test func aServerThatFailsAtOnceIsNotAskedThousandsOfTimesASecond() {
    let hasty = RetryPolicy(.forever, maximumDelayMilliseconds: 0)
    #expect((1...10).allSatisfy { delay(hasty, afterFailures: $0, random: .max) == 0 })
    #expect([11, 1000, .max].allSatisfy { (delay(hasty, afterFailures: $0) ?? 0) >= 50 })
  }

  @Test func aMinimumPrecedesTheLongestDelayAndFollowsRetryAfter() {
    let hasty = RetryPolicy(.failures(3), maximumDelayMilliseconds: 10)
    func delay(_ wish: Int64?, within remainder: RetryPolicy.Remainder = .unlimited) -> Int64? {
      hasty.delay(afterFailures: 1, within: remainder, retryAfterMilliseconds: wish, minimum: 30_000, random: 0)
    }
    #expect(delay(nil) == 30_000 && delay(1000) == 30_000 && delay(40_000) == 40_000)
    #expect(delay(nil, within: .milliseconds(29_999)) == nil)
  }

  @Test(arguments: [6, 7, 20, 41, 64, 1000, 1_000_000, .max] as [Int64])
  func noDelayIsLongerThanTheChosenOne(failures: Int64) {
    let patient = RetryPolicy(.forever, maximumDelayMilliseconds: 30_000)
    let delays = delays(patient, afterFailures: failures)
    #expect(delays.count == 20_002)
    #expect(delays.allSatisfy { $0 >= 15_000 && $0 <= 30_000 } && delays.contains { $0 > 29_000 })
  }

  @Test func aShortMaximumHoldsFromTheFirstTry() {
    let hasty = RetryPolicy(.failures(3), maximumDelayMilliseconds: 10)
    #expect(delays(hasty, afterFailures: 1).allSatisfy { $0 >= 5 && $0 <= 10 })
  }

  @Test func triesAreCounted() {
    #expect(delay(policy, afterFailures: 5) == 30_000)
    #expect(delay(policy, afterFailures: 6) == nil)
    #expect(delay(policy, afterFailures: 6, retryAfterMilliseconds: 1000) == nil)
    let none = RetryPolicy(.failures(0), maximumDelayMilliseconds: 60_000)
    #expect(delay(none, afterFailures: 1) == nil)
  }

  @Test func aTimeEndsWithAnAttemptAndNotWithAWait() {
    let hour = RetryPolicy(.time(milliseconds: 3_600_000), maximumDelayMilliseconds: 60_000)
    #expect(delay(hour, afterFailures: 1000, for: 3_599_999, random: 60_000) == 1)
    #expect(delay(hour, afterFailures: 1000, for: 3_600_000) == nil)
    #expect(delay(hour, afterFailures: 1_000_000, for: 0) == 30_000)
  }

  @Test func retryAfterIsObeyedWithinTheTimeLimit() {
    let minute = RetryPolicy(.time(milliseconds: 60_000), maximumDelayMilliseconds: 60_000)
    #expect(delay(minute, afterFailures: 1, for: 20_000, retryAfterMilliseconds: 40_000, random: 999) == 40_000)
    #expect(delay(minute, afterFailures: 1, for: 20_001, retryAfterMilliseconds: 40_000) == nil)
  }

  /// The delay that the server asks for, plus up to a second, so that not all clients return at once.
  @Test(arguments: [0, 1, 7000, 120_000] as [Int64])
  func retryAfterIsObeyed(wish: Int64) {
    let delays = delays(policy, afterFailures: 1, retryAfterMilliseconds: wish)
    #expect(delays.allSatisfy { $0 >= wish && $0 < wish + 1000 })
    #expect(Set(delays).count > 900)
  }

  @Test func retryAfterIsObeyedForAnHourAtMost() {
    let delays = delays(policy, afterFailures: 1, retryAfterMilliseconds: .max)
    #expect(delays.allSatisfy { $0 >= 3_600_000 && $0 < 3_601_000 })
  }
}
