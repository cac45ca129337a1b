import Glibc
import Testing

@testable import Uploader

/// A machine controlled by the test.
private final class ScriptedMachine: Steppable {
  let name: String
  private(set) var steps: [Readiness] = []
  private(set) var extended: Int64 = 0
  private(set) var isFinishing = false
  var awaitsAnother = false
  private let script: (ScriptedMachine, Readiness, Int64) throws(UploadError) -> Wait?

  /// - Parameter script: called at every step.
  init(
    _ name: String = "", script: @escaping (ScriptedMachine, Readiness, Int64) throws(UploadError) -> Wait?
  ) {
    self.name = name
    self.script = script
  }

  func extendDeadlines(by milliseconds: Int64) { extended += milliseconds }

  func finish(nowMilliseconds: Int64) { isFinishing = true }

  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait? {
    steps.append(ready)
    return try script(self, ready, nowMilliseconds)
  }
}

/// A pipe that is closed at the end.
private final class Pipe {
  let reading: Int32
  let writing: Int32

  init() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fatalError("pipe failed") }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  func fill() { _ = write(writing, "x", 1) }
}

struct EventLoopTests {
  private let failure = UploadError.outOfResources("patience")

  @Test func aLongStepExtendsTheDeadlinesOfTheOthers() {
    let slow = ScriptedMachine("slow") { (_, _, _) throws(UploadError) in
      usleep(150_000)
      return nil
    }
    let quick = ScriptedMachine("quick") { (machine, _, now) throws(UploadError) in
      machine.steps.count > 2 && machine.extended > 0 ? nil : Wait(untilMilliseconds: now + 1)
    }
    #expect(run([slow, quick]).map { $0.name } == ["slow", "quick"])
    #expect(quick.extended >= 150 && slow.extended == 0)
  }

  @Test func aLongSearchForTheNextMachineExtendsTheDeadlinesOfMachinesAtWork() {
    let first = ScriptedMachine { machine, _, now in
      machine.extended > 0 ? nil : Wait(untilMilliseconds: now + 1)
    }
    var isFirst = true
    EventLoop<ScriptedMachine>(Cancellation()).run(2) {
      if isFirst {
        isFirst = false
        return first
      }
      usleep(150_000)
      return nil
    } ended: { _, _ in
    }
    #expect(first.extended >= 150)
  }

  /// Thousands of delivered files on a slow disk must not stop an upload for a minute.
  @Test func aLongSearchThatSkipsDoesNotHoldUpMachinesAtWork() {
    var skipped = 0
    let first = ScriptedMachine { _, _, now in
      skipped < 40 ? Wait(untilMilliseconds: now + 1) : nil
    }
    var isFirst = true
    func skip() -> Bool {
      guard !isFirst, skipped < 40 else { return false }
      skipped += 1
      usleep(10_000)
      return true
    }
    EventLoop<ScriptedMachine>(Cancellation()).run(2, skip: skip) {
      defer { isFirst = false }
      return isFirst ? first : nil
    } ended: { _, _ in
    }
    #expect(skipped == 40 && first.steps.count >= 3)
  }

  @Test func aMachineThatAwaitsAnotherIsSteppedWhenOneHasEnded() {
    let patient = { (name: String) in
      let machine = ScriptedMachine(name) { machine, _, _ in
        machine.steps.count < 3 ? Wait(untilMilliseconds: .max) : nil
      }
      machine.awaitsAnother = true
      return machine
    }
    let work = { (count: Int) in
      ScriptedMachine("\(count)") { machine, _, now in
        machine.steps.count < count ? Wait(untilMilliseconds: now) : nil
      }
    }
    let (first, last) = (patient("first"), patient("last"))
    #expect(run([first, work(3), work(6), last]).map { $0.name } == ["3", "6", "first", "last"])
    #expect(first.steps.count == 3 && last.steps.count == 3)
  }

  /// Runs the machines.
  /// - Returns: how they ended, in order.
  private func run(
    _ machines: [ScriptedMachine], atATime count: Int = 16, cancellation: Cancellation = Cancellation()
  ) -> [(name: String, error: UploadError?)] {
    var waiting = machines[...]
    var ended: [(name: String, error: UploadError?)] = []
    EventLoop<ScriptedMachine>(cancellation).run(count) {
      waiting.popFirst()
    } ended: {
      ended.append(($0.name, $1))
    }
    return ended
  }

  @Test func withoutMachinesThereIsNothingToDo() {
    #expect(run([]).isEmpty)
  }

  @Test func aMachineIsSteppedUntilItHasNothingLeftToDo() {
    let machine = ScriptedMachine { machine, _, now in machine.steps.count < 5 ? Wait(untilMilliseconds: now) : nil }
    let ended = run([machine])
    #expect(ended.count == 1 && ended[0].error == nil && machine.steps.count == 5)
  }

  @Test func anErrorEndsItsMachineAlone() {
    let bad = ScriptedMachine("bad") { [failure] (_, _, _) throws(UploadError) in throw failure }
    let good = ScriptedMachine("good") { machine, _, now in
      machine.steps.count < 10 ? Wait(untilMilliseconds: now) : nil
    }
    let ended = run([good, bad, ScriptedMachine("quick") { _, _, _ in nil }])
    #expect(ended.first { $0.name == "bad" }?.error == failure)
    #expect(ended.first { $0.name == "good" }?.error == nil && ended.last?.name == "good" && ended.count == 3)
  }

  @Test(arguments: [1, 2, 3])
  func theNumberOfWorkingMachinesIsLimited(count: Int) {
    var working = 0
    var most = 0
    let machines = (0..<9).map { index in
      ScriptedMachine("\(index)") { machine, _, now in
        if machine.steps.count == 1 { working += 1 }
        most = max(most, working)
        if machine.steps.count < 3 + index % 3 { return Wait(untilMilliseconds: now) }
        working -= 1
        return nil
      }
    }
    #expect(run(machines, atATime: count).count == 9)
    #expect(most == count)
  }

  @Test func readinessIsReportedToTheWaitingMachine() {
    let pipes = (0..<3).map { _ in Pipe() }
    // Each wakes the previous one.
    let machines = (0..<3).map { index in
      ScriptedMachine("\(index)") { _, ready, now in
        if index == 2 || ready.contains(.readable) {
          if index > 0 { pipes[index - 1].fill() }
          return nil
        }
        return Wait(descriptor: pipes[index].reading, readiness: .readable, untilMilliseconds: now + 60_000)
      }
    }
    #expect(run(machines).map { $0.name } == ["2", "1", "0"])
    #expect(machines[0].steps == [[], .readable] && machines[1].steps == [[], .readable])
  }

  @Test func onlyAwaitedEventsWakeAMachine() {
    let pipe = Pipe()
    pipe.fill()
    let machine = ScriptedMachine { machine, _, now in
      guard machine.steps.count < 2 else { return nil }
      // It is readable, but that was not waited for.
      return Wait(descriptor: pipe.reading, readiness: [], untilMilliseconds: now + 30)
    }
    _ = run([machine])
    #expect(machine.steps == [[], []])
  }

  @Test func anyOfSeveralDescriptorsWakes() {
    let (quiet, third, loud) = (Pipe(), Pipe(), Pipe())
    loud.fill()
    let machine = ScriptedMachine { machine, _, now in
      guard machine.steps.count < 2 else { return nil }
      var wait = Wait(descriptor: quiet.reading, readiness: .readable, untilMilliseconds: now + 60_000)
      wait.others = [third.reading, loud.reading]
      return wait
    }
    let neighbour = ScriptedMachine { machine, _, now in
      machine.steps.count < 2 ? Wait(descriptor: quiet.writing, readiness: .writable, untilMilliseconds: .max) : nil
    }
    #expect(run([machine, neighbour]).count == 2)
    withExtendedLifetime(third) {}
    #expect(machine.steps.last == .readable && neighbour.steps.last == .writable)
  }

  @Test func aMachineThatWaitsForTimeIsSteppedWhenItHasCome() {
    var began: Int64 = 0
    var steppedAt: Int64 = 0
    let sleeper = ScriptedMachine("sleeper") { machine, _, now in
      if machine.steps.count == 1 {
        began = now
        return Wait(untilMilliseconds: now + 50)
      }
      steppedAt = now
      return nil
    }
    // A machine that is always busy must not wake it.
    let busy = ScriptedMachine("busy") { _, _, now in
      sleeper.steps.count < 2 ? Wait(untilMilliseconds: now) : nil
    }
    _ = run([sleeper, busy])
    #expect(steppedAt >= began + 50 && sleeper.steps == [[], []] && busy.steps.count > 2)
  }

  @Test func aHangUpCountsAsReadiness() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fatalError("pipe failed") }
    close(ends[1])
    let machine = ScriptedMachine { machine, _, _ in
      machine.steps.count < 2 ? Wait(descriptor: ends[0], readiness: .readable, untilMilliseconds: .max) : nil
    }
    _ = run([machine])
    close(ends[0])
    #expect(machine.steps.last?.contains(.readable) == true)
  }

  // MARK: Cancellation

  @Test func aCancellationEndsAllMachinesAndBeginsNone() {
    let cancellation = Cancellation()
    let waiting = (0..<3).map { index in
      ScriptedMachine("\(index)") { _, _, now in Wait(untilMilliseconds: now + 60_000) }
    }
    let last = ScriptedMachine("last") { _, _, now in
      cancellation.cancel()
      return Wait(untilMilliseconds: now + 60_000)
    }
    let never = ScriptedMachine("never") { _, _, _ in nil }
    let ended = run(waiting + [last, never], atATime: 4, cancellation: cancellation)
    #expect(ended.count == 4 && ended.allSatisfy { $0.error == .cancelled(hasSentAll: false) })
    #expect(never.steps.isEmpty && waiting.allSatisfy { $0.steps.count == 1 })
  }

  @Test(arguments: [{ $0.cancel() }, { $0.finish() }] as [@Sendable (Cancellation) -> Void])
  func aLoopThatIsCancelledBeforeItBeginsDoesNothing(cancel: @Sendable (Cancellation) -> Void) {
    let cancellation = Cancellation()
    cancel(cancellation)
    #expect(run([ScriptedMachine { _, _, _ in nil }], cancellation: cancellation).isEmpty)
  }

  @Test func machinesThatAreToFinishAreSteppedUntilTheyHaveAndNoneBegins() {
    let cancellation = Cancellation()
    let waiting = ScriptedMachine("waiting") { machine, _, now in
      if machine.isFinishing { return machine.steps.count < 4 ? Wait(untilMilliseconds: now) : nil }
      return Wait(untilMilliseconds: now + 60_000)
    }
    let last = ScriptedMachine("last") { machine, _, now in
      if machine.isFinishing { return nil }
      cancellation.finish()
      return Wait(untilMilliseconds: now + 60_000)
    }
    let never = ScriptedMachine("never") { _, _, _ in nil }
    let ended = run([waiting, last, never], atATime: 2, cancellation: cancellation)
    #expect(ended.map { $0.name } == ["last", "waiting"] && ended.allSatisfy { $0.error == nil })
    #expect(never.steps.isEmpty && waiting.steps.count == 4)
  }

  /// Every job can wait for all addresses of its host at once.
  @Test func allDescriptorsOfAllJobsFitIntoOnePoll() {
    let pipe = Pipe()
    let machines = (0..<Int(Limits.jobCount)).map { index in
      ScriptedMachine("\(index)") { machine, _, now in
        guard machine.steps.count < 2 else { return nil }
        var wait = Wait(descriptor: pipe.reading, readiness: .readable, untilMilliseconds: now + 20)
        wait.others = [Int32](repeating: pipe.reading, count: Limits.addressCount - 1)
        return wait
      }
    }
    let ended = run(machines)
    #expect(ended.count == 16 && ended.allSatisfy { $0.error == nil })
  }
}
