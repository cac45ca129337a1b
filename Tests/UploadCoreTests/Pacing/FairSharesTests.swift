import Testing
import UploadCore

struct FairSharesTests {
  // MARK: Alone

  @Test(arguments: [1, 7, 999, 56_000, 1_000_000, 1_000_000_000, Limits.rate] as [Int64])
  func aShareAloneIsTheLimiter(bytesPerSecond: Int64) {
    var limiter = TokenBucket(bytesPerSecond: bytesPerSecond)
    var rate = FairShares(bytesPerSecond: bytesPerSecond)
    let share = rate.join()
    var random = SeededGenerator(seed: UInt64(bytesPerSecond))
    var now: Int64 = 1000
    for _ in 0..<2000 {
      let allowance = limiter.allowance(nowMilliseconds: now)
      #expect(rate.allowance(of: share, nowMilliseconds: now) == allowance)
      let count = Bool.random(using: &random) ? allowance : Int.random(in: 0...allowance, using: &random)
      limiter.consume(count)
      rate.consume(count, of: share)
      let next = limiter.nextMilliseconds(nowMilliseconds: now)
      #expect(rate.nextMilliseconds(of: share, nowMilliseconds: now) == next)
      if Bool.random(using: &random) { rate.rest(share) }
      now = Bool.random(using: &random) ? max(now, next) : now + Int64.random(in: 0...3000, using: &random)
    }
  }

  // MARK: Equal parts

  /// No part differs from another by more than two turns, and together they have the rate.
  @Test(arguments: [(20, 1000), (50, 1000), (56_000, 20), (1_000_000, 20), (125_000_000, 20)] as [(Int64, Int64)])
  func allHaveEqualParts(bytesPerSecond: Int64, seconds: Int64) {
    let quantum = Int(max(1, bytesPerSecond / 20))
    for count in [1, 2, 3, 7, 16] {
      var line = SharedLine(bytesPerSecond, Array(repeating: SharedLine.Sender(), count: count))
      line.run(until: seconds * 1000)
      let parts = line.senders.map(\.written)
      #expect((parts.max() ?? 0) - (parts.min() ?? 0) <= 2 * quantum, "\(parts)")
      #expect(line.total <= bytesPerSecond * seconds)
      #expect(line.total >= Int(bytesPerSecond * seconds) - 2 * quantum, "\(count) of \(bytesPerSecond): \(line.total)")
    }
  }

  @Test func sixteenUploadsShareAByteASecond() {
    var line = SharedLine(1, Array(repeating: SharedLine.Sender(), count: 16))
    line.run(until: 160_001)
    #expect(line.senders.map(\.written) == Array(repeating: 10, count: 16))
  }

  /// A run is less than a turn.
  @Test(arguments: [10_000_000, 1_000_000_000, 100_000_000_000] as [Int64])
  func atHighRatesPartsDoNotDependOnTheLengthOfARun(bytesPerSecond: Int64) {
    let quantum = Int(bytesPerSecond / 20)
    var line = SharedLine(
      bytesPerSecond,
      [SharedLine.Sender(runLength: quantum / 50), SharedLine.Sender(), SharedLine.Sender(runLength: quantum / 3)])
    line.run(until: 20_000)
    let parts = line.senders.map(\.written)
    #expect((parts.max() ?? 0) - (parts.min() ?? 0) <= 3 * quantum, "\(parts)")
    #expect(line.total >= Int(bytesPerSecond) * 20 - 4 * quantum, "\(line.total)")
  }

  @Test func theHighestRateIsNoTrouble() {
    var rate = FairShares(bytesPerSecond: Limits.rate)
    let shares = (0..<16).map { _ in rate.join() }
    for share in shares { _ = rate.allowance(of: share, nowMilliseconds: 0) }
    for share in shares.prefix(4) {
      #expect(rate.allowance(of: share, nowMilliseconds: 200) == 50_000_000_000)
      rate.consume(50_000_000_000, of: share)
    }
    #expect(rate.allowance(of: shares[4], nowMilliseconds: 200) == 0)
    #expect(rate.nextMilliseconds(of: shares[4], nowMilliseconds: 200) == 250)
    #expect(rate.nextMilliseconds(of: shares[0], nowMilliseconds: 200) == 350)
  }

  /// As many as one upload would make: each costs a system call and a TLS record.
  @Test func writesAreAsFewAsThoseOfOneUpload() {
    var line = SharedLine(1_000_000, Array(repeating: SharedLine.Sender(), count: 16))
    line.run(until: 10_000)
    #expect(line.senders.reduce(0) { $0 + $1.writes } <= 201)
  }

  /// With 16 uploads each has the sixteenth turn.
  @Test func noSenderWaitsLongerThanARound() {
    var line = SharedLine(1_000_000, Array(repeating: SharedLine.Sender(), count: 16))
    var before = line.senders.map(\.written)
    for round: Int64 in 1...10 {
      line.run(until: round * 850)
      let after = line.senders.map(\.written)
      #expect(zip(before, after).allSatisfy { $0 < $1 }, "round \(round): \(after)")
      before = after
    }
  }

  // MARK: Unused shares

  @Test(arguments: [true, false])
  func theOthersHaveWhatASlowOneLeaves(isFirst: Bool) {
    let slow = SharedLine.Sender(bytesPerMillisecond: 10)
    let others = Array(repeating: SharedLine.Sender(), count: 3)
    var line = SharedLine(1_000_000, isFirst ? [slow] + others : others + [slow])
    line.run(until: 30_000)
    let parts = line.senders.map(\.written).sorted()
    #expect(parts[0] >= 270_000 && parts[0] <= 300_000, "\(parts)")
    #expect(parts[3] - parts[1] <= 100_000, "\(parts)")
    #expect(line.total >= 30_000_000 - 100_000)
  }

  @Test func nobodyWaitsForSlowOnesOnly() {
    var line = SharedLine(
      1_000_000, Array(repeating: SharedLine.Sender(bytesPerMillisecond: 5), count: 15) + [SharedLine.Sender()])
    line.run(until: 30_000)
    let parts = line.senders.map(\.written)
    #expect(parts.prefix(15).allSatisfy { $0 >= 120_000 && $0 <= 150_000 }, "\(parts)")
    #expect(line.total >= 30_000_000 - 200_000, "\(parts)")
  }

  /// For example while it waits for a response.
  @Test func aSenderThatRestsTakesNoShare() {
    var rate = FairShares(bytesPerSecond: 1_000_000)
    let (first, second) = (rate.join(), rate.join())
    for share in [first, second] { _ = rate.allowance(of: share, nowMilliseconds: 0) }
    #expect(rate.allowance(of: first, nowMilliseconds: 200) == 50_000)
    rate.consume(50_000, of: first)
    #expect(rate.allowance(of: first, nowMilliseconds: 200) == 0)
    rate.rest(second)
    #expect(rate.allowance(of: first, nowMilliseconds: 200) == 150_000)
  }

  /// It never says so.
  @Test func aSenderThatDoesNotComeLosesItsTurn() {
    var rate = FairShares(bytesPerSecond: 1_000_000)
    let (first, second) = (rate.join(), rate.join())
    for share in [first, second] { _ = rate.allowance(of: share, nowMilliseconds: 0) }
    var (now, written): (Int64, Int) = (0, 0)
    while now < 5000 {
      let count = rate.allowance(of: first, nowMilliseconds: now)
      rate.consume(count, of: first)
      written += count
      let next = rate.nextMilliseconds(of: first, nowMilliseconds: now)
      #expect(next <= now + 150 || count > 0)
      now = max(now + 1, next)
    }
    #expect(written >= 4_000_000 && written <= 5_000_000)
  }

  // MARK: Coming and going

  @Test func aNewSenderHasAnEqualShareFromThenOn() {
    var line = SharedLine(1_000_000, [SharedLine.Sender(), SharedLine.Sender(joinsAt: 10_000, leavesAt: 20_000)])
    line.run(until: 10_000)
    #expect(line.senders[0].written >= 9_900_000)
    // What it did not send before is never made up for.
    line.run(until: 10_500)
    #expect(line.senders[1].written >= 150_000 && line.senders[1].written <= 350_000)
    line.run(until: 20_000)
    #expect(line.senders[1].written >= 4_900_000 && line.senders[1].written <= 5_100_000)
    line.run(until: 30_000)
    #expect(line.senders[0].written >= 24_800_000 && line.senders[0].written <= 25_100_000)
  }

  @Test func aSenderThatReturnsHasNothingToMakeUpFor() {
    var rate = FairShares(bytesPerSecond: 1_000_000)
    let (first, second) = (rate.join(), rate.join())
    _ = rate.allowance(of: second, nowMilliseconds: 0)
    rate.rest(second)
    var sent = 0
    for now in stride(from: Int64(0), through: 60_000, by: 50) {
      let count = rate.allowance(of: first, nowMilliseconds: now)
      rate.consume(count, of: first)
      sent += count
      // It also rested for a moment when the other one joined.
      rate.rest(first)
    }
    #expect(sent == 60_000_000)
    var parts = [0, 0]
    for now in stride(from: Int64(60_050), through: 61_050, by: 50) {
      for share in [first, second] {
        let count = rate.allowance(of: share, nowMilliseconds: now)
        rate.consume(count, of: share)
        parts[share] += count
      }
    }
    #expect(parts[0] >= 450_000 && parts[1] >= 450_000, "\(parts)")
  }

  @Test func aNumberIsUsedAgain() {
    var rate = FairShares(bytesPerSecond: 1000)
    let numbers = (0..<3).map { _ in rate.join() }
    #expect(Set(numbers).count == 3)
    rate.leave(numbers[1])
    #expect(rate.join() == numbers[1])
  }

  // MARK: Anything

  /// Whichever uploads join, leave or are slow: the bytes sent in any period are at most the rate plus a burst, and no part of
  /// the rate is lost while an upload can use it.
  @Test(arguments: 0..<60)
  func theRateIsKeptWhateverHappens(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let bytesPerSecond = [30, 5000, 1_000_000, 3_000_000_000].randomElement(using: &random) ?? 1
    var senders = (0..<Int.random(in: 1...15, using: &random)).map { _ in
      let joins = Int64.random(in: 0...8000, using: &random)
      return SharedLine.Sender(
        bytesPerMillisecond: Bool.random(using: &random)
          ? nil : Int.random(in: 1...max(1, bytesPerSecond / 2000), using: &random),
        runLength: Bool.random(using: &random)
          ? .max : Int.random(in: max(1, bytesPerSecond / 200)...bytesPerSecond, using: &random),
        joinsAt: joins, leavesAt: joins + Int64.random(in: 1...5000, using: &random),
        rests: Int.random(in: 0..<4, using: &random) > 0)
    }
    // One that always uses everything it gets.
    senders.append(SharedLine.Sender())
    var line = SharedLine(Int64(bytesPerSecond), senders)
    line.run(until: 10_000)
    // A bucket in thousandths of a byte, from which everything must be taken.
    let most = max(1000, bytesPerSecond * 200)
    var (bucket, time): (Int, Int64) = (0, 0)
    for write in line.sent {
      bucket = min(most, bucket + bytesPerSecond * Int(write.time - time)) - write.count * 1000
      time = write.time
      #expect(bucket >= 0, "at \(time)")
    }
    guard senders.allSatisfy(\.rests) else { return }
    #expect(line.total >= bytesPerSecond * 97 / 10, "\(line.total) of \(bytesPerSecond * 10)")
  }
}
