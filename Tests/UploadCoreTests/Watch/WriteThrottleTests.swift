import Testing
import UploadCore

struct WriteThrottleTests {
  @Test func nothingIsDueWithoutAChange() {
    var pace = WriteThrottle(interval: 5000)
    #expect(pace.due == nil)
    let isDue = pace.isDue(now: .max)
    #expect(!isDue)
  }

  @Test func theFirstChangeIsDueAtOnceAndTheNextAfterTheInterval() {
    var pace = WriteThrottle(interval: 5000)
    pace.noteChange()
    let first = [pace.isDue(now: 100), pace.isDue(now: 6000)]
    #expect(first == [true, false])
    pace.noteChange()
    #expect(pace.due == 5100)
    let second = [pace.isDue(now: 5099), pace.isDue(now: 5100)]
    #expect(second == [false, true])
    #expect(pace.due == nil)
  }

  @Test func aChangeAfterALongTimeIsDueAtOnce() {
    var pace = WriteThrottle(interval: 5000)
    pace.noteChange()
    let first = pace.isDue(now: 0)
    pace.noteChange()
    let second = pace.isDue(now: 1_000_000)
    #expect(first && second)
  }
}
