import Testing
import UploadCore

struct SpaceKeeperTests {
  private let minute: Int64 = 60_000
  private var keeper = SpaceKeeper(wanted: 100)

  /// Looks, with so much free.
  private mutating func look(_ free: Int64?, at now: Int64, mayClean: Bool = true) -> SpaceKeeper.Step {
    keeper.look(free: free, mayClean: mayClean, now: now)
  }

  @Test mutating func withEnoughSpaceItLooksOnlyWhenSomethingHappens() {
    #expect(keeper.due == .min)
    let steps = [look(100, at: 0), look(101, at: 1), look(nil, at: 2)]
    #expect(steps == [.nothing, .nothing, .nothing] && keeper.due == nil)
    keeper.lookSoon()
    #expect(keeper.due == .min)
    _ = look(100, at: 3)
    keeper.noteDelivery()
    #expect(keeper.due == .min)
  }

  @Test mutating func whenItRunsShortItCleansOnceAtATime() {
    let step = look(99, at: 0)
    #expect(step == .clean && keeper.due == nil)
    keeper.lookSoon()
    #expect(keeper.due == nil)
    let isNews = keeper.ended(isEnough: true, now: 5)
    #expect(!isNews && !keeper.isShort && keeper.due == 5)
  }

  @Test mutating func spaceThatIsFreedLaterCostsNoOtherRecording() {
    _ = look(90, at: 0)
    _ = keeper.ended(isEnough: true, now: 5)
    // A delivery changes nothing about that.
    keeper.noteDelivery()
    let soon = look(90, at: 5)
    #expect(soon == .nothing && keeper.due == 5 + minute)
    let later = look(105, at: 5 + minute)
    #expect(later == .nothing && !keeper.isShort)
  }

  /// A snapshot still has the content of what was removed, for example.
  @Test mutating func spaceThatIsNotFreedIsToldOnceAndCostsOtherRecordingsOnlyAfterTenMinutes() {
    var steps: [SpaceKeeper.Step] = []
    for now in (0...20).map({ $0 * minute }) {
      let step = look(90, at: now)
      steps.append(step)
      guard step == .clean else { continue }
      _ = keeper.ended(isEnough: true, now: now)
      keeper.noteDelivery()
    }
    #expect(steps.filter { $0 == .clean }.count == 2 && steps.filter { $0 == .notFreed }.count == 1)
    #expect(steps[0] == .clean && steps[1] == .notFreed && steps[11] == .clean && keeper.isShort)
    let over = look(100, at: 22 * minute)
    #expect(over == .isOver && !keeper.isShort)
  }

  /// What was removed was enough, but a recording in progress has taken part of the space.
  @Test mutating func whatIsWrittenMeanwhileIsNoReasonToWait() {
    _ = look(90, at: 0)
    _ = keeper.ended(isEnough: true, now: 5)
    let steps = [look(95, at: 5), look(40, at: 5 + minute)]
    #expect(steps == [.nothing, .clean])
  }

  @Test mutating func spaceThatIsFreedVeryLateIsUsedAtOnce() {
    _ = look(90, at: 0)
    _ = keeper.ended(isEnough: true, now: 0)
    let steps = [look(90, at: 0), look(94, at: minute), look(95, at: 2 * minute)]
    #expect(steps == [.nothing, .notFreed, .clean])
  }

  @Test mutating func aShortageIsToldOnceAndItsEndToo() {
    var news: [Bool] = []
    for now in [0, 10 * minute, 20 * minute] {
      let step = look(50, at: now)
      #expect(step == .clean)
      news.append(keeper.ended(isEnough: false, now: now))
      #expect(keeper.isShort && keeper.due == now + minute)
    }
    #expect(news == [true, false, false])
    let early = look(50, at: 29 * minute)
    #expect(early == .nothing && keeper.due == 30 * minute)
    let steps = [look(100, at: 30 * minute), look(100, at: 31 * minute)]
    #expect(steps == [.isOver, .nothing] && !keeper.isShort)
    // A new shortage is news again, and is not made to wait.
    let again = look(99, at: 32 * minute)
    let isNews = keeper.ended(isEnough: false, now: 32 * minute)
    #expect(again == .clean && isNews)
  }

  @Test mutating func aDeliveryIsAReasonToTryAgain() {
    _ = look(50, at: 0)
    _ = keeper.ended(isEnough: false, now: 1)
    keeper.noteDelivery()
    #expect(keeper.due == .min)
    let step = look(50, at: 2)
    #expect(step == .clean)
    // So is one during the attempt.
    keeper.noteDelivery()
    _ = keeper.ended(isEnough: false, now: 3)
    #expect(keeper.due == 3)
    let again = look(50, at: 3)
    #expect(again == .clean)
  }

  @Test mutating func anotherDirectoryIsWaitedFor() {
    let steps = [look(50, at: 0, mayClean: false), look(50, at: minute)]
    #expect(steps == [.nothing, .clean])
  }
}
