import Glibc
import Testing

@testable import Uploader

/// An output controlled by the test.
private final class ScriptedOutput: CallerOutput {
  var blocked: [Int32] = []
  private(set) var writes = 0
  private let answer: (ScriptedOutput, Int64) -> UploadAdmission

  init(_ answer: @escaping (ScriptedOutput, Int64) -> UploadAdmission) { self.answer = answer }

  func write() { writes += 1 }
  func admission(nowMilliseconds now: Int64) -> UploadAdmission { answer(self, now) }
}

private final class Counted: Steppable {
  private var steps = 0
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    steps += 1
    return steps < 3 ? Wait(untilMilliseconds: now + 1) : nil
  }
}

struct CallerOutputTests {
  /// - Returns: how many of the machines ran.
  private func run(_ count: Int, _ output: ScriptedOutput, _ cancellation: Cancellation = Cancellation()) -> Int {
    var (begun, ended) = (0, 0)
    EventLoop<Counted>(cancellation, output: output).run(4) {
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
    let output = ScriptedOutput { _, _ in .open }
    #expect(run(10, output) == 10 && output.writes > 0)
  }

  @Test func aHeldMachineStartsWhenTheOutletHasWritten() {
    // A descriptor that can be written to at once.
    let null = open("/dev/null", O_WRONLY)
    defer { close(null) }
    let output = ScriptedOutput { output, _ in output.writes < 5 ? .held(untilMilliseconds: .max) : .open }
    output.blocked = [null]
    #expect(run(3, output) == 3 && output.writes >= 5)
  }

  @Test func aHeldMachineIsAskedForAgainInTime() {
    var asked = 0
    let output = ScriptedOutput { _, now in
      asked += 1
      return asked < 3 ? .held(untilMilliseconds: now + 1) : .open
    }
    #expect(run(1, output) == 1 && asked >= 3)
  }

  @Test func withAClosedOutletNothingMoreStarts() {
    var admitted = 0
    let output = ScriptedOutput { _, _ in
      admitted += 1
      return admitted <= 2 ? .open : .closed
    }
    #expect(run(10, output) == 2)
  }

  @Test func aHeldMachineIsCancelledLikeAnyOther() {
    let cancellation = Cancellation()
    let output = ScriptedOutput { _, _ in
      cancellation.cancel()
      return .held(untilMilliseconds: .max)
    }
    #expect(run(10, output, cancellation) == 0)
  }

  @Test func aLoopEndsWithItsMachinesWhateverTheOutletSays() {
    var asked = 0
    let output = ScriptedOutput { _, _ in
      asked += 1
      return asked <= 2 ? .open : .held(untilMilliseconds: .max)
    }
    #expect(run(2, output) == 2)
  }
}
