import Testing
import UploadCore

struct ModificationTimeDoubtTests {
  private static let day: Int64 = 86_400
  private static let now = Limits.builtOn + 30 * day
  /// 1981-01-01.
  private static let set: Int64 = 347_155_200

  @Test(arguments: [set, 946_684_800, Limits.builtOn - 1, Limits.builtOn, now, now + day, now + 366 * day])
  func aTimeIsBelievedWhileTheClockIsRight(modified: Int64) {
    #expect(ModificationTimeDoubt(modified: modified, now: ModificationTimeDoubtTests.now) == nil)
  }

  @Test(arguments: [-day, 0, 315_532_800, set - 1])
  func aClockThatWasNeverSetIsNotBelieved(modified: Int64) {
    for now in [ModificationTimeDoubtTests.now, 100] {
      #expect(ModificationTimeDoubt(modified: modified, now: now) == .neverSet)
    }
  }

  @Test func aTimeThatWasNeverSetMeansTodayIfTheClockIsRight() {
    let now = ModificationTimeDoubtTests.now
    #expect(ModificationTimeDoubt.neverSet.meansToday(now: Limits.builtOn))
    #expect(!ModificationTimeDoubt.neverSet.meansToday(now: Limits.builtOn - 1))
    #expect(!ModificationTimeDoubt.future.meansToday(now: now))
  }

  @Test func beforeTheClockIsRightAnOldTimeMayBeItsOwn() {
    let now: Int64 = 1_600_000_000
    #expect(ModificationTimeDoubt(modified: now - 60, now: now) == .wrongClock)
    #expect(ModificationTimeDoubt(modified: Limits.builtOn - 1, now: now) == .wrongClock)
    #expect(ModificationTimeDoubt(modified: Limits.builtOn, now: now) == nil)
  }

  @Test func theFarFutureIsNotBelieved() {
    let now = ModificationTimeDoubtTests.now
    #expect(ModificationTimeDoubt(modified: now + 366 * ModificationTimeDoubtTests.day + 1, now: now) == .future)
  }
}
