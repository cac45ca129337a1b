import Testing
import UploadCore

@testable import Uploader

/// A rate that changes with the time of the day.
struct RateControlTests {
  private final class Clock { var minute: Int? = 0 }

  private func share(_ text: String, _ clock: Clock) throws -> RateShare {
    RateShare(of: RateControl(try RateSchedule(parsing: text) { Int64($0) }, minute: { clock.minute }))
  }

  /// The bytes that may be written in a second.
  private func bytes(_ share: RateShare, from start: Int64) -> Int {
    var written = 0
    for now in stride(from: start, to: start + 1000, by: 10) {
      let allowance = min(share.allowance(nowMilliseconds: now), 1 << 20)
      share.consume(allowance)
      written += allowance
    }
    return written
  }

  @Test func theRateFollowsTheTimetableWhileSomethingIsSent() throws {
    let clock = Clock()
    let share = try share("00:00,10000 01:00,pause 02:00,off 03:00,50000", clock)
    #expect((9_000...10_100).contains(bytes(share, from: 0)))
    clock.minute = 60
    _ = share.allowance(nowMilliseconds: 1000)
    #expect(bytes(share, from: 1001) == 0 && share.isPaused(nowMilliseconds: 2000))
    #expect(share.nextMilliseconds(nowMilliseconds: 2500) > 2500)
    clock.minute = 120
    #expect(share.allowance(nowMilliseconds: 4000) == .max && !share.isPaused(nowMilliseconds: 4000))
    share.consume(1 << 40)
    // What was sent without a limit is not made up for.
    clock.minute = 180
    #expect((45_000...50_500).contains(bytes(share, from: 5000)))
  }

  /// Neither must wait until the other one has sent as much.
  @Test func bytesSentWithoutALimitDoNotDecideWhoseTurnItIs() throws {
    let clock = Clock()
    clock.minute = 120
    let control = RateControl(
      try RateSchedule(parsing: "02:00,off 03:00,100000") { Int64($0) }, minute: { clock.minute })
    let shares = [RateShare(of: control), RateShare(of: control)]
    for (share, count) in zip(shares, [5 << 30, 10 << 20]) {
      #expect(share.allowance(nowMilliseconds: 0) == .max)
      share.consume(count)
    }
    clock.minute = 180
    var written = [0, 0]
    for now in stride(from: Int64(5000), to: 15_000, by: 10) {
      for (number, share) in shares.enumerated() {
        let allowance = share.allowance(nowMilliseconds: now)
        share.consume(allowance)
        written[number] += allowance
      }
    }
    #expect(written.allSatisfy { (450_000...550_000).contains($0) })
  }

  @Test func untilTheClockIsRightTheStrictestEntryHolds() throws {
    let clock = Clock()
    clock.minute = nil
    let share = try share("00:00,off 01:00,1000", clock)
    #expect((900...1010).contains(bytes(share, from: 0)))
  }
}
