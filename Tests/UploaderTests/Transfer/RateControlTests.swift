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
      share.consume(allowance, nowMilliseconds: now)
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
    share.consume(1 << 40, nowMilliseconds: 0)
    // What was sent without a limit is not made up for.
    clock.minute = 180
    #expect((45_000...50_500).contains(bytes(share, from: 5000)))
  }

  @Test(arguments: [20, 50, 90] as [Int64])
  func finishedRecordingsKeepTheirPartOfTheLine(percent: Int64) {
    let control = RateControl(.unlimited, livePercent: percent)
    let (live, finished) = (RateShare(of: control), RateShare(of: control))
    live.isLive = true
    // Nobody else sends anything.
    #expect(live.allowance(nowMilliseconds: 0) == .max && live.nextMilliseconds(nowMilliseconds: 0) == 0)
    live.consume(1 << 30, nowMilliseconds: 0)
    var written = [0, 0]
    for now in stride(from: Int64(0), to: 10_000, by: 10) {
      #expect(
        finished.allowance(nowMilliseconds: now) == .max && finished.nextMilliseconds(nowMilliseconds: now) == now)
      finished.consume(10_000, nowMilliseconds: now)
      let allowance = live.allowance(nowMilliseconds: now)
      #expect((live.nextMilliseconds(nowMilliseconds: now) > now) == (allowance == 0))
      live.consume(allowance, nowMilliseconds: now)
      written[0] += 10_000
      written[1] += allowance
    }
    #expect(abs(written[1] * 100 / written.reduce(0, +) - Int(percent)) <= 1)
    finished.consume(1 << 40, nowMilliseconds: 10_000)
    let most = live.allowance(nowMilliseconds: 10_000)
    #expect(most == 4 << 20 && live.allowance(nowMilliseconds: 14_999) == most)
    // What waits for its server does not need the line.
    #expect(live.allowance(nowMilliseconds: 15_000) == .max)
  }

  @Test func recordingsThatAreMadeKeepToTheRateToo() {
    let control = RateControl(RateSchedule(.bytesPerSecond(100_000)), livePercent: 50)
    let (live, finished) = (RateShare(of: control), RateShare(of: control))
    live.isLive = true
    finished.consume(1, nowMilliseconds: 0)
    #expect(bytes(live, from: 0) == 0)
    finished.consume(30_000, nowMilliseconds: 1000)
    #expect((15_000...30_000).contains(bytes(live, from: 1000)))
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
      share.consume(count, nowMilliseconds: 0)
    }
    clock.minute = 180
    var written = [0, 0]
    for now in stride(from: Int64(5000), to: 15_000, by: 10) {
      for (number, share) in shares.enumerated() {
        let allowance = share.allowance(nowMilliseconds: now)
        share.consume(allowance, nowMilliseconds: now)
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
