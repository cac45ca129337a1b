import Testing
import UploadCore

/// A link that delivers this many bytes per second over one, two, three … connections.
private struct Link {
  var rates: [Int64]
  var count = ConnectionCount(.automatic)
  var now: Int64 = 0
  var delivered: Int64 = 0
  /// How many connections there are; it follows what is wanted.
  var used = 1

  mutating func run(seconds: Int64) -> [Int] {
    var seen: [Int] = []
    for _ in 0..<(seconds * 10) {
      (now, delivered) = (now + 100, delivered + rates[used - 1] / 10)
      count.update(delivered: delivered, over: used, nowMilliseconds: now)
      used = count.wanted
      if seen.last != used { seen.append(used) }
    }
    return seen
  }
}

struct ConnectionCountTests {
  @Test func connectionsThatAddSomethingStay() {
    var link = Link(rates: [1000, 2000, 3000, 4000])
    #expect(link.run(seconds: 300) == [1, 2, 3, 4])
  }

  @Test func lostPacketsNeedNoTrial() {
    var link = Link(rates: [1000, 1000, 1000, 1000])
    link.count.expectGain()
    #expect(link.run(seconds: 300) == [4])
  }

  @Test func aFullLinkGetsOne() {
    var link = Link(rates: [8000, 8000])
    #expect(link.run(seconds: 60) == [1, 2, 1])
    // It may have become another one: once a minute, a second one is tried for four seconds.
    #expect(link.run(seconds: 66) == [1, 2, 1])
    link.rates = [8000, 16_000, 16_500]
    #expect(link.run(seconds: 66) == [1, 2, 3, 2])
  }

  @Test(arguments: [(1120, 2), (1130, 3)]) func anEighthMoreIsEnough(_ second: Int64, _ most: Int) {
    var link = Link(rates: [1000, second, second])
    #expect(link.run(seconds: 20).max() == most)
  }

  @Test func oneThatIsNotThereIsNotJudged() {
    var count = ConnectionCount(.automatic)
    for second in 0..<300 as Range<Int64> {
      count.update(delivered: second * 1000, over: 1, nowMilliseconds: second * 1000)
    }
    #expect(count.wanted == 2)
  }

  @Test func whatIsLostStartsTheTrialAgain() {
    var count = ConnectionCount(.automatic)
    for second in 0..<300 as Range<Int64> {
      count.update(delivered: 300_000 - second * 1000, over: 1, nowMilliseconds: second * 1000)
    }
    #expect(count.wanted == 1)
  }

  @Test func aNumberIsTaken() {
    var count = ConnectionCount(.count(7))
    for second in 0..<30 as Range<Int64> { count.update(delivered: 0, over: 7, nowMilliseconds: second * 1000) }
    #expect(count.wanted == 7)
  }

  @Test func anOutageIsNoGain() {
    var link = Link(rates: [0, 0])
    #expect(link.run(seconds: 60) == [1])
  }

  @Test func theSecondOneShowsThatTheServerTakesIt() {
    var count = ConnectionCount(.count(3))
    func may(_ connections: Int, _ arrived: Int64) -> Bool {
      count.mayAdd(to: connections, arrived: arrived, nowMilliseconds: 0)
    }
    let (first, none, some) = (may(1, 0), may(2, Limits.helperEvidence - 1), may(2, Limits.helperEvidence))
    #expect((first, none, some) == (true, false, true))
    count.noteSentPart()
    let (afterPart, most) = (may(2, 0), may(3, 0))
    count.noteFailure(delivered: 0, nowMilliseconds: 0)
    let afterFailure = may(2, 0)
    #expect((afterPart, most, afterFailure) == (true, false, false))
  }

  @Test func aServerThatRefusesOthersIsLeftAlone() {
    var count = ConnectionCount(.count(16))
    func may(_ now: Int64) -> Bool { count.mayAdd(to: 1, arrived: 0, nowMilliseconds: now) }
    count.noteFailure(delivered: 5, nowMilliseconds: 0)
    count.noteSentPart()
    count.noteFailure(delivered: 7, nowMilliseconds: 1000)
    let (same, more, afterOne) = (count.mayLend(delivered: 7), count.mayLend(delivered: 8), may(1000))
    #expect((same, more, afterOne) == (false, true, true))
    count.noteFailure(delivered: 9, nowMilliseconds: 2000)
    let end = 2000 + Limits.connectionPauseMilliseconds
    let (before, after) = (may(end - 1), may(end))
    #expect((before, after) == (false, true))
  }
}
