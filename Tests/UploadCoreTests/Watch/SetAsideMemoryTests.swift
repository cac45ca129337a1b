import Testing

@testable import UploadCore

/// What is set aside stays so over a restart of the watcher.
struct SetAsideMemoryTests {
  private let minute: Int64 = 60_000
  private let hour: Int64 = 3_600_000
  private let day: Int64 = 24 * 3_600_000

  private func memory(_ again: Reattempt, failures: Int, message: String? = "no.") throws -> SetAsideMemory {
    SetAsideMemory(
      key: .max, again: again, failures: failures, failedAt: 1000, message: message,
      id: message == nil ? nil : "5e1f0a77")
  }

  @Test func aLineIsReadAsItWasWritten() throws {
    for message in [nil, "\"a\nb\": 400."] {
      let memory = try memory(.rarely, failures: 2, message: message)
      #expect(SetAsideMemory(parsing: Array(memory.line.utf8)) == memory)
    }
  }

  @Test(arguments: [
    "", "{}", "7", #""key":"x""#, #""again":"often""#, #""failures":0"#, #""failures":99999999999"#, #""failed_at":"#,
  ])
  func anythingElseIsNot(line: String) {
    let good = #"{"key":"1","again":"soon","failures":1,"failed_at":1}"#
    #expect(SetAsideMemory(parsing: Array(good.utf8)) != nil)
    // A member in place of the right one.
    let name = line.prefix { $0 != ":" }
    let members = good.dropFirst().dropLast().split(separator: ",").map { $0.hasPrefix(name) ? line[...] : $0 }
    let bad = line.hasPrefix("\"") ? "{" + members.joined(separator: ",") + "}" : line
    #expect(SetAsideMemory(parsing: Array(bad.utf8)) == nil, "\(bad)")
    #expect(SetAsideMemory(parsing: Array((good + "x").utf8)) == nil)
  }

  @Test func aCauseThatMayPassIsTriedAfterAnHourAndARefusalWhenItIsDue() throws {
    typealias Case = (again: Reattempt, failures: Int, passed: Int64, delay: Int64?)
    var cases: [Case] = [(.soon, 1, 0, 0), (.soon, 2, 0, hour), (.soon, 4, hour / 2, hour / 2), (.soon, 4, hour, 0)]
    cases += [(.once, 1, 0, 0), (.once, 2, 0, 7 * day), (.rarely, 1, 2 * day, 5 * day), (.rarely, 1, 8 * day, 0)]
    cases.append((.never, 1, 400 * day, nil))
    // The clock was wrong.
    cases += [(.soon, 2, -5 * day, hour), (.rarely, 1, -5 * day, 7 * day)]
    for (again, failures, passed, delay) in cases {
      let memory = try memory(again, failures: failures)
      #expect(memory.delayAtStart(unixSeconds: 1000 + passed / 1000) == delay, "\(again) \(failures) \(passed)")
    }
    #expect(try memory(.soon, failures: 2).delayAtStart(unixSeconds: .min) == hour)
  }

  private func restarted(_ again: Reattempt) -> SimulatedStation {
    var station = SimulatedStation()
    station.refuses = { _ in WorkerEvent.Failure("no.", exitCode: 7, .file, again: again) }
    station.write("/a.wav")
    station.run(until: 10 * minute)
    station.refuses = { _ in nil }
    station.reboot()
    return station
  }

  @Test(arguments: [Reattempt.soon, .rarely])
  func aRecordingSetAsideIsTriedWhenItIsDue(again: Reattempt) {
    let due = again == .soon ? hour : 7 * day
    var station = restarted(again)
    let shown = station.machine.snapshot(destination: "", [], now: station.now, unixSeconds: station.unixSeconds)
    #expect(shown.setAside.map { $0.message } == ["no."] && shown.waitingCount == 0)
    station.run(until: due - 10 * minute)
    #expect(station.deliveries.isEmpty)
    // Another restart changes nothing.
    station.reboot()
    station.run(until: due + 15 * minute)
    #expect(station.isComplete && station.count(.setAside) == 1)
    #expect(station.machine.setAsideMemories.isEmpty)
  }

  @Test func aChangeOrAPersonComesFirst() {
    var station = restarted(.rarely)
    station.machine.retryEverything(now: station.now)
    station.run(until: station.now + 5 * minute)
    #expect(station.isComplete)
    station = restarted(.rarely)
    station.write("/a.wav", size: 5)
    station.run(until: station.now + 5 * minute)
    #expect(station.isComplete)
  }

  /// Its time was too far ahead, or a certificate was not valid yet.
  @Test func aClockThatWasSetComesFirst() {
    var station = restarted(.rarely)
    for (seconds, isTried): (Int64, Bool) in [(1_700_000_000, false), (1_700_086_399, false), (1_699_913_600, true)] {
      station.machine.noteClock(unixSeconds: seconds + station.now / 1000, now: station.now)
      station.run(until: station.now + 5 * minute)
      #expect(station.isComplete == isTried, "\(seconds)")
    }
  }

  /// As for a card that is not there yet.
  @Test func missingFilesAreRememberedToo() throws {
    var machine = WatchMachine(.init(settleMilliseconds: 0), seed: 1)
    let memory = try memory(.rarely, failures: 1)
    machine.remember([memory], now: 0, unixSeconds: 1000)
    #expect(machine.setAsideMemories == [memory])
    let file = WatchedFile(key: .max, size: 1, modifiedSeconds: 0, writers: .noWriter)
    machine.noteInspection([1], .file(file), now: 5)
    #expect(machine.candidates.isEmpty && machine.setAsideMemories == [memory])
    let changes = [machine.takeSetAsideChange(), machine.takeSetAsideChange()]
    #expect(changes == [true, false])
  }

  /// The clock of a board may be set after a minute. Nothing is sent until then.
  @Test func recordingsThatWereFoundBeforeAreSetAsideToo() throws {
    var machine = WatchMachine(.init(settleMilliseconds: 0), seed: 1)
    let file = WatchedFile(key: .max, size: 1, modifiedSeconds: 0, writers: .noWriter)
    machine.noteInspection([1], .file(file), now: 5)
    machine.remember([try memory(.rarely, failures: 1)], now: 0, unixSeconds: 1000)
    #expect(machine.candidates.isEmpty)
  }
}
