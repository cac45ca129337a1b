import Testing
import UploadCore

struct FullSendsTests {
  @Test func theFourthOfADayIsNotAllowed() {
    var sends = FullSends(.refused, atSeconds: 1000)
    #expect(sends.allowedAtSeconds == 1010 && !sends.areUsedUp)
    sends.add(.refused, atSeconds: 1010)
    #expect(sends.allowedAtSeconds == 1070 && !sends.areUsedUp)
    sends.add(.refused, atSeconds: 1020)
    #expect(sends.allowedAtSeconds == 87_400)
  }

  /// Any three within a day, not only three within the day of the first one.
  @Test func aDayEndsADayAfterEachOfThem() {
    var sends = FullSends(.refused, atSeconds: 0)
    sends.add(.refused, atSeconds: 86_399)
    sends.add(.refused, atSeconds: 86_400)
    #expect(sends.times == [86_399, 86_400] && !sends.areUsedUp)
    sends.add(.refused, atSeconds: 86_401)
    #expect(sends.allowedAtSeconds == 172_799)
  }

  @Test func aRequestOfAPersonMovesTheTime() {
    var sends = FullSends(.refused, atSeconds: 1)
    for seconds in [2, 3, 4] as [Int64] { sends.add(.refused, atSeconds: seconds) }
    #expect(sends.times == [2, 3, 4] && sends.allowedAtSeconds == 86_402)
  }

  @Test func oneMoreFullSendIsAllowedEverySixHours() {
    var sends = FullSends(.refused, atSeconds: 1)
    for seconds in [2, 3] as [Int64] { sends.add(.refused, atSeconds: seconds) }
    #expect(sends.extraAt == nil && sends.extraAllowedAtSeconds == 0)
    sends.add(.refused, atSeconds: 1000)
    #expect(sends.extraAt == 1000 && sends.extraAllowedAtSeconds == 22_600)
    // One that was due is none.
    sends.add(.refused, atSeconds: 90_000)
    #expect(sends.extraAt == 1000)
  }

  @Test func anotherFailureStartsOver() {
    var sends = FullSends(.refused, atSeconds: 1)
    sends.add(.refused, atSeconds: 2)
    sends.add(.unanswered, atSeconds: 3)
    #expect(sends.times == [3] && sends.failure == .unanswered)
  }

  /// Each new upload makes progress, and its own failures are full sends, too.
  @Test func lostRecordingsCountUntilADelivery() {
    var sends = FullSends(.refused, atSeconds: 1)
    sends.add(.lost, atSeconds: 2)
    #expect(sends.times == [2] && sends.failure == .lost)
    sends.add(.unanswered, atSeconds: 3)
    #expect(sends.times == [2, 3] && sends.failure == .lost && sends.outlastsProgress)
  }

  /// What a clock says that is set back, or has no battery.
  @Test func timesThatAreNotInTheLastDayDoNotCount() {
    var sends = FullSends(.refused, atSeconds: 1_800_000_000)
    sends.add(.refused, atSeconds: 60)
    #expect(sends.times == [60])
    sends.add(.refused, atSeconds: 1_800_000_000)
    #expect(sends.times == [1_800_000_000])
    sends.add(.refused, atSeconds: .min)
    sends.add(.refused, atSeconds: .max)
    #expect(sends.times.count == 1)
  }

  @Test(arguments: [[], [-1], [.max], [1, 2, 3, 4]] as [[Int64]])
  func impossibleTimesAreRefused(times: [Int64]) {
    #expect(FullSends(.refused, times: times) == nil)
  }
}
