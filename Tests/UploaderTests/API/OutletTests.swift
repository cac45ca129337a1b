import Glibc
import Testing

@testable import Uploader

/// An outlet controlled by the test.
private final class ScriptedOutlet: Outlet {
  var blocked: [Int32] = []
  private(set) var writes = 0
  private let answer: (ScriptedOutlet, Int64) -> Admission

  init(_ answer: @escaping (ScriptedOutlet, Int64) -> Admission) { self.answer = answer }

  func write() { writes += 1 }
  func admission(nowMilliseconds now: Int64) -> Admission { answer(self, now) }
}

private final class Counted: Steppable {
  private var steps = 0
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    steps += 1
    return steps < 3 ? Wait(untilMilliseconds: now + 1) : nil
  }
}

struct OutletTests {
  /// - Returns: how many of the machines ran.
  private func run(_ count: Int, _ outlet: ScriptedOutlet, _ cancellation: Cancellation = Cancellation()) -> Int {
    var (begun, ended) = (0, 0)
    EventLoop<Counted>(cancellation, outlet: outlet).run(4) {
      begun < count
    } next: {
      begun += 1
      return begun <= count ? Counted() : nil
    } ended: { _, _ in
      ended += 1
    }
    return ended
  }

  @Test func anOpenOutletHoldsNothingBack() {
    let outlet = ScriptedOutlet { _, _ in .open }
    #expect(run(10, outlet) == 10 && outlet.writes > 0)
  }

  @Test func aHeldMachineStartsWhenTheOutletHasWritten() {
    // A descriptor that can be written to at once.
    let null = open("/dev/null", O_WRONLY)
    defer { close(null) }
    let outlet = ScriptedOutlet { outlet, _ in outlet.writes < 5 ? .held(untilMilliseconds: .max) : .open }
    outlet.blocked = [null]
    #expect(run(3, outlet) == 3 && outlet.writes >= 5)
  }

  @Test func whatIsHeldBackIsAskedForAgainInTime() {
    var asked = 0
    let outlet = ScriptedOutlet { _, now in
      asked += 1
      return asked < 3 ? .held(untilMilliseconds: now + 1) : .open
    }
    #expect(run(1, outlet) == 1 && asked >= 3)
  }

  @Test func withAClosedOutletNothingMoreStarts() {
    var admitted = 0
    let outlet = ScriptedOutlet { _, _ in
      admitted += 1
      return admitted <= 2 ? .open : .closed
    }
    #expect(run(10, outlet) == 2)
  }

  @Test func whatIsHeldBackIsCancelledLikeEverythingElse() {
    let cancellation = Cancellation()
    let outlet = ScriptedOutlet { _, _ in
      cancellation.cancel()
      return .held(untilMilliseconds: .max)
    }
    #expect(run(10, outlet, cancellation) == 0)
  }

  @Test func aLoopEndsWithItsMachinesWhateverTheOutletSays() {
    var asked = 0
    let outlet = ScriptedOutlet { _, _ in
      asked += 1
      return asked <= 2 ? .open : .held(untilMilliseconds: .max)
    }
    #expect(run(2, outlet) == 2)
  }
}
