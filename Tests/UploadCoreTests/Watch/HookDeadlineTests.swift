import Testing
import UploadCore

struct HookDeadlineTests {
  @Test func aProgramThatHangsIsAskedToEndAndThenKilled() {
    var deadline = HookDeadline(now: 1000, limit: 50, grace: 7)
    #expect(deadline.due == 1050)
    #expect(deadline.step(now: 1049) == .nothing && !deadline.isOver)
    #expect(deadline.step(now: 1050) == .terminate && deadline.isOver && deadline.due == 1057)
    #expect(deadline.step(now: 1056) == .nothing)
    #expect(deadline.step(now: 1057) == .kill)
  }

  @Test func aProgramThatSurvivesIsKilledAgain() {
    var deadline = HookDeadline(now: 0, limit: 1, grace: 1)
    #expect([1, 2, 3, 4].map { deadline.step(now: $0) } == [.terminate, .kill, .kill, .kill])
  }

  @Test func aProgramHasItsGracePeriodAlsoAfterALateWakeUp() {
    var deadline = HookDeadline(now: 0, limit: 10, grace: 5)
    #expect(deadline.step(now: 1000) == .terminate)
    #expect(deadline.step(now: 1004) == .nothing && deadline.step(now: 1005) == .kill)
  }

  @Test func atTheEndOfTheWatcherThereIsLessTime() {
    var running = HookDeadline(now: 0, limit: 100, grace: 50)
    running.shorten(now: 10, grace: 3)
    #expect([10, 12, 13].map { running.step(now: $0) } == [.terminate, .nothing, .kill])
    var stopping = HookDeadline(now: 0, limit: 1, grace: 50)
    #expect(stopping.step(now: 1) == .terminate)
    stopping.shorten(now: 10, grace: 3)
    #expect([12, 13].map { stopping.step(now: $0) } == [.nothing, .kill])
  }

  @Test func aMinuteAndFiveSecondsAreWhatIsDocumented() {
    var deadline = HookDeadline(now: 0)
    #expect(deadline.due == 60_000)
    #expect(deadline.step(now: 60_000) == .terminate && deadline.due == 65_000)
  }
}
