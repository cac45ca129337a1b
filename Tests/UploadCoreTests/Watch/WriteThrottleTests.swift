import Testing
import UploadCore

struct WriteThrottleTests {
  @Test func nothingIsDueWithoutAChange() {
    var throttle = WriteThrottle(interval: 5000)
    #expect(throttle.due == nil)
    let isDue = throttle.isDue(now: .max)
    #expect(!isDue)
  }

  @Test func theFirstChangeIsDueAtOnceAndTheNextAfterTheInterval() {
    var throttle = WriteThrottle(interval: 5000)
    throttle.noteChange()
    let first = [throttle.isDue(now: 100), throttle.isDue(now: 6000)]
    #expect(first == [true, false])
    throttle.noteChange()
    #expect(throttle.due == 5100)
    let second = [throttle.isDue(now: 5099), throttle.isDue(now: 5100)]
    #expect(second == [false, true])
    #expect(throttle.due == nil)
  }

  @Test func aChangeAfterALongTimeIsDueAtOnce() {
    var throttle = WriteThrottle(interval: 5000)
    throttle.noteChange()
    let first = throttle.isDue(now: 0)
    throttle.noteChange()
    let second = throttle.isDue(now: 1_000_000)
    #expect(first && second)
  }
}
