import Testing
import UploadCore

struct SpaceKeeperTests {
  private let minute: Int64 = 60_000
  private var keeper = SpaceKeeper(wanted: 100)

  /// Checks, with so much free.
  private mutating func check(_ free: Int64?, at now: Int64, mayClean: Bool = true) -> SpaceKeeper.Step {
    keeper.check(free: free, mayClean: mayClean, now: now)
  }

  @Test mutating func withEnoughSpaceNothingIsCheckedUnlessSomethingHappens() {
    #expect(keeper.due == .min)
    let steps = [check(100, at: 0), check(101, at: 1), check(nil, at: 2)]
    #expect(steps == [.nothing, .nothing, .nothing] && keeper.due == nil)
    keeper.checkSoon()
    #expect(keeper.due == .min)
    _ = check(100, at: 3)
    keeper.noteDelivery()
    #expect(keeper.due == .min)
  }

  @Test mutating func oneCleanupRunsAtATimeWhenSpaceRunsShort() {
    let step = check(99, at: 0)
    #expect(step == .clean && keeper.due == nil)
    keeper.checkSoon()
    #expect(keeper.due == nil)
    let isNews = keeper.ended(isEnough: true, freesAtOnce: false, now: 5)
    #expect(!isNews && !keeper.isShort && keeper.due == 5)
  }

  @Test mutating func theReserveForRemovalsIsRenewedAtMostOnceAMinute() {
    var isTaken: [Bool] = []
    for now in [0, 1, minute - 1, minute, minute + 1, 3 * minute] { isTaken.append(keeper.takeReservation(now: now)) }
    #expect(isTaken == [true, false, false, true, false, true])
  }

  @Test mutating func aDirectoryWaitsWhileAnotherOneIsCleaned() {
    let step = check(99, at: 0, mayClean: false)
    #expect(step == .nothing && keeper.due == minute)
  }

  @Test mutating func spaceThatIsFreedLaterCostsNoOtherRecording() {
    _ = check(90, at: 0)
    _ = keeper.ended(isEnough: true, freesAtOnce: false, now: 5)
    // A delivery changes nothing about that.
    keeper.noteDelivery()
    let soon = check(90, at: 5)
    #expect(soon == .nothing && keeper.due == 5 + 5000)
    let later = check(105, at: 5 + minute)
    #expect(later == .nothing && !keeper.isShort)
  }

  /// A snapshot still has the content of what was removed, for example.
  @Test mutating func spaceThatIsNotFreedIsReportedOnceAndCostsOtherRecordingsOnlyAfterTenMinutes() {
    var steps: [SpaceKeeper.Step] = []
    for now in (0...20).map({ $0 * minute }) {
      let step = check(90, at: now)
      steps.append(step)
      guard step == .clean else { continue }
      _ = keeper.ended(isEnough: true, freesAtOnce: false, now: now)
      keeper.noteDelivery()
    }
    #expect(steps.filter { $0 == .clean }.count == 2 && steps.filter { $0 == .notFreed }.count == 1)
    #expect(steps[0] == .clean && steps[1] == .notFreed && steps[11] == .clean && keeper.isShort)
    let over = check(100, at: 22 * minute)
    #expect(over == .isOver && !keeper.isShort)
  }

  /// What was removed was enough, but a recording in progress has taken part of the space.
  @Test mutating func bytesWrittenDuringARemovalAreNoReasonToWait() {
    _ = check(90, at: 0)
    _ = keeper.ended(isEnough: true, freesAtOnce: false, now: 5)
    let steps = [check(95, at: 5), check(40, at: 5 + minute)]
    #expect(steps == [.nothing, .clean])
  }

  /// A recorder that takes more than is removed at a time does not stop the removing.
  @Test mutating func whereSpaceIsFreeAtOnceTheNextRemovalFollowsSoon() {
    for now: Int64 in [0, 1000, 2000] {
      let step = check(90 - now / 100, at: now)
      let isNews = keeper.ended(isEnough: true, freesAtOnce: true, now: now)
      #expect(step == .clean && !isNews && keeper.due == now)
      let next = check(90 - now / 100, at: now)
      #expect(next == .nothing && keeper.due == now + 1000)
    }
  }

  @Test mutating func spaceThatIsFreedVeryLateIsUsedAtOnce() {
    _ = check(90, at: 0)
    _ = keeper.ended(isEnough: true, freesAtOnce: false, now: 0)
    let steps = [check(90, at: 0), check(94, at: minute), check(95, at: 2 * minute)]
    #expect(steps == [.nothing, .notFreed, .clean])
  }

  @Test mutating func aShortageAndItsEndAreReportedOnce() {
    var news: [Bool] = []
    for now in [0, 10 * minute, 20 * minute] {
      let step = check(50, at: now)
      #expect(step == .clean)
      news.append(keeper.ended(isEnough: false, freesAtOnce: false, now: now))
      #expect(keeper.isShort && keeper.due == now + minute)
    }
    #expect(news == [true, false, false])
    let early = check(50, at: 29 * minute)
    #expect(early == .nothing && keeper.due == 30 * minute)
    let steps = [check(100, at: 30 * minute), check(100, at: 31 * minute)]
    #expect(steps == [.isOver, .nothing] && !keeper.isShort)
    // A new shortage is news again, and is not made to wait.
    let again = check(99, at: 32 * minute)
    let isNews = keeper.ended(isEnough: false, freesAtOnce: false, now: 32 * minute)
    #expect(again == .clean && isNews)
  }

  @Test mutating func aDeliveryIsAReasonToTryAgain() {
    _ = check(50, at: 0)
    _ = keeper.ended(isEnough: false, freesAtOnce: false, now: 1)
    keeper.noteDelivery()
    #expect(keeper.due == .min)
    let step = check(50, at: 2)
    #expect(step == .clean)
    // So is one during the attempt.
    keeper.noteDelivery()
    _ = keeper.ended(isEnough: false, freesAtOnce: false, now: 3)
    #expect(keeper.due == 3)
    let again = check(50, at: 3)
    #expect(again == .clean)
  }

  @Test mutating func anotherDirectoryIsWaitedFor() {
    let steps = [check(50, at: 0, mayClean: false), check(50, at: minute)]
    #expect(steps == [.nothing, .clean])
  }
}
