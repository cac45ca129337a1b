import Testing

@testable import UploadCore

/// Failures of the network, the server, the worker and single recordings.
extension WatchMachineTests {
  /// A server that fails with some recordings, and others that are written at the start.
  private func station(
    _ failure: WorkerEvent.Failure, of names: [String], writing others: [String] = []
  ) -> SimulatedStation {
    var station = SimulatedStation()
    station.refuses = { path in names.contains(String(decoding: path, as: UTF8.self)) ? failure : nil }
    for name in names + others { station.write(name) }
    return station
  }

  /// The server refuses it, or something else has its name there.
  @Test(arguments: [(ExitCode.refused, 400), (ExitCode.conflict, nil)] as [(Int32, Int64?)])
  func aRefusedFileIsSetAsideUntilItChangesAndOthersGoOn(exitCode: Int32, status: Int64?) {
    let failure = WorkerEvent.Failure("no.", exitCode: Int64(exitCode), .file, status: status, again: .rarely)
    var station = station(failure, of: ["/a.wav"], writing: ["/b.wav", "/c.wav"])
    station.run(until: 10 * minute)
    #expect(station.deliveries.count == 2 && station.count(.setAside) == 1)
    #expect(station.machine.snapshot(destination: "", [], now: 0, unixSeconds: 0).setAsideCount == 1)
    for _ in 0..<20 {
      station.scan()
      station.run(until: station.now + 5 * minute)
    }
    #expect(station.machine.report.totals.failedCount == 1)
    station.refuses = { _ in nil }
    station.write("/a.wav", size: 5)
    station.run(until: station.now + 5 * minute)
    #expect(station.isComplete && station.machine.leftAlone.setAside.isEmpty)
  }

  @Test func aRecordingThatChangesBeforeItsNextAttemptIsNewAndNotSetAside() {
    var station = station(WorkerEvent.Failure("no.", exitCode: 7, .file, again: .rarely), of: ["/a.wav"])
    station.run(until: 10 * minute)
    station.machine.retryEverything(now: station.now)
    while !station.machine.leftAlone.setAside.allSatisfy({ $0.isBeingRetried }) { station.run(until: station.now + 10) }
    station.run(until: station.now + 10)
    station.write("/a.wav", size: 5)
    station.run(until: station.now + 1000)
    #expect(station.machine.leftAlone.setAside.isEmpty && station.deliveries.isEmpty)
  }

  @Test func noVerdictOfOneAttemptIsForEver() {
    let hour = 60 * minute
    let table: [(Reattempt, [Int64])] = [
      (.soon, [0, 0, hour, 7 * hour, 31 * hour, 55 * hour]), (.once, [0, 0, 7 * 24 * hour, 37 * 24 * hour]),
      (.rarely, [0, 7 * 24 * hour, 37 * 24 * hour, 127 * 24 * hour, 217 * 24 * hour]), (.never, [0]),
    ]
    for (again, expected) in table {
      let failure = WorkerEvent.Failure("no.", exitCode: 10, .file, again: again)
      var station = station(failure, of: ["/a.wav"])
      var attempts: [Int64] = []
      station.uploadMilliseconds = 1000
      while station.now < (expected.last ?? 0) + 2 * hour {
        let before = station.machine.report.totals.failedCount
        station.run(until: station.now + minute)
        let new = station.machine.report.totals.failedCount - before
        attempts += [Int64](repeating: station.now, count: Int(new))
      }
      #expect(attempts.count == expected.count, "\(again)")
      // Each attempt takes a moment, and so does settling.
      for (attempt, time) in zip(attempts, expected) {
        #expect((time...time + 15 * minute).contains(attempt), "\(again)")
      }
      // It is told once.
      #expect(station.count(.setAside) == 1 && station.count(.retry) == (again == .soon || again == .once ? 1 : 0))
      station.machine.retryEverything(now: station.now)
      station.run(until: station.now + 2 * minute)
      #expect(station.machine.report.totals.failedCount == Int64(expected.count) + (again == .never ? 0 : 1))
      station.refuses = { _ in nil }
      station.machine.retryEverything(now: station.now)
      station.run(until: station.now + 2 * minute)
      #expect(station.isComplete == (again != .never))
    }
  }

  @Test func aRecordingThatAnotherProcessWorksOnIsReportedAsSuch() {
    var station = station(WorkerEvent.Failure("busy.", exitCode: Int64(ExitCode.conflict), .file), of: ["/a.wav"])
    while station.machine.report.totals.failedCount == 0 { station.run(until: station.now + 1000) }
    let shown = station.machine.snapshot(destination: "", [], now: station.now, unixSeconds: station.unixSeconds)
    #expect(shown.postponed.map { $0.message } == ["busy."] && shown.waitingCount == 1)
  }

  @Test func aRecordingThatIsSetAsideHasADate() {
    var station = station(WorkerEvent.Failure("no.", exitCode: 7, .file, again: .rarely), of: ["/a.wav"])
    station.run(until: 10 * minute)
    #expect(station.notices.last?.message == "no. It is set aside until it changes, for 7 d at most.")
    let shown = station.machine.snapshot(destination: "", [], now: station.now, unixSeconds: station.unixSeconds)
    #expect(shown.setAside.map { $0.nextAttempt.map { $0 - station.unixSeconds > 6 * 24 * 3600 } } == [true])
  }

  @Test func manyThatAreSetAsideAreCountedUntilTheyAreDelivered() {
    let names = (0...Limits.watchSetAsideMessages).map { "/card/\($0)" }
    var station = SimulatedStation()
    station.uploadMilliseconds = 1000
    station.refuses = { _ in WorkerEvent.Failure("no.", exitCode: 7, .file, status: 400, again: .rarely) }
    for name in names { station.write(name) }
    station.run(until: 60 * minute)
    func setAsideCount() -> Int { station.machine.snapshot(destination: "", [], now: 0, unixSeconds: 0).setAsideCount }
    #expect(setAsideCount() == names.count)
    station.scan()
    station.run(until: 120 * minute)
    #expect(station.machine.report.totals.failedCount == names.count && setAsideCount() == names.count)
    station.refuses = { _ in nil }
    station.write(names[names.count - 1], size: 5)
    station.run(until: 180 * minute)
    #expect(station.deliveries.count == 1 && setAsideCount() == names.count - 1)
    station.machine.forget(under: Array("/card".utf8))
    #expect(setAsideCount() == 0)
  }

  @Test func theNumberOfRecordingsSetAsideIsLimited() {
    var machine = WatchMachine(.init(settleMilliseconds: 0, jobs: 4096), seed: 1)
    let failure = WorkerEvent.Kind.failed(.init("no.", exitCode: 7, .file, status: 400, again: .rarely))
    machine.workerStarted()
    for number in 0...Limits.watchSetAsideCount {
      let path = Array("/\(number)".utf8)
      let file = WatchedFile(key: UInt64(number), size: 1, modifiedSeconds: 0, writers: .noWriter)
      for now: Int64 in [0, 1] { machine.noteInspection(path, .file(file), now: now) }
      let isGiven = nil != machine.give(path)
      #expect(isGiven)
      machine.handle(WorkerEvent(failure, path: path), now: 1, unixSeconds: 0)
      machine.noteInspection(path, .file(file), now: 1)
      _ = machine.takeNotices()
    }
    #expect(machine.leftAlone.setAside.count == Limits.watchSetAsideCount && machine.candidates.isEmpty)
    // The last one is not sent again, either, before somebody asks for it, or there is room for it.
    func isLastKnown() -> Bool {
      machine.isKnown(UInt64(Limits.watchSetAsideCount), at: Array("/\(Limits.watchSetAsideCount)".utf8))
    }
    var rescans = [machine.takeRescan()]
    #expect(isLastKnown())
    machine.retryEverything(now: 2)
    for _ in 0..<2 { rescans.append(machine.takeRescan()) }
    #expect(rescans == [false, true, false] && !isLastKnown())
  }

  @Test func thoseForWhichThereWasNoRoomAreFoundOnceThereIs() {
    var leftAlone = FilesLeftAlone()
    let judgement = WatchCandidate.Judgement(
      message: "no.", id: nil, exitCode: 16, since: 0, again: .never, isRetried: false)
    for number in 0...Limits.watchSetAsideCount {
      let file = WatchedFile(key: UInt64(number), size: 1, modifiedSeconds: 0, writers: .noWriter)
      let path = Array("/\(number)".utf8)
      _ = leftAlone.note(
        WatchCandidate(path: path, file: file, hasGrown: false, seenAt: 0, dueAt: 0), judgement, now: 0)
    }
    var taken = [leftAlone.takeOthers()]
    for number in 0...Limits.watchSetAsideCount / 8 { leftAlone.drop(Array("/\(number)".utf8)) }
    for _ in 0..<2 { taken.append(leftAlone.takeOthers()) }
    #expect(taken == [false, true, false] && !leftAlone.known.contains(UInt64(Limits.watchSetAsideCount)))
  }

  @Test func aFileThatChangedDuringItsUploadIsNotSetAside() {
    var station = SimulatedStation()
    station.write("/a.wav")
    station.run(until: 40_000)
    station.write("/a.wav", size: 2000)
    station.run(until: 10 * minute)
    #expect(station.isComplete && station.count(.setAside) == 0 && station.deliveries.count == 1)
  }

  @Test func aFileThatIsRemovedDuringItsUploadIsForgotten() {
    var station = SimulatedStation()
    station.write("/a.wav")
    station.run(until: 40_000)
    station.remove("/a.wav")
    station.run(until: 10 * minute)
    #expect(
      station.machine.candidates.isEmpty && station.machine.leftAlone.setAside.isEmpty && station.deliveries.isEmpty)
  }

  @Test func wrongCredentialsPauseAndAreReportedOnce() {
    var station = station(WorkerEvent.Failure("401.", exitCode: 6, .destination, status: 401), of: ["/a", "/b", "/c"])
    station.run(until: 24 * 60 * minute)
    #expect(station.count(.paused) == 1 && station.deliveries.isEmpty)
    // Those that the worker had when it was refused, and then one an hour.
    #expect((24...30).contains(station.machine.report.totals.failedCount))
    station.refuses = { _ in nil }
    station.machine.credentialsChanged(now: station.now)
    station.run(until: station.now + 5 * minute)
    #expect(station.isComplete && station.count(.resumed) == 1)
  }

  @Test func afterRefusedCredentialsTheLogAndTheStatusNameTheRestartThatReadsOthers() {
    for (exitCode, expected) in [(Int64(6), true), (5, false)] {
      var settings = WatchMachine.Settings(settleMilliseconds: 30_000)
      settings.restartCommand = "systemctl restart uploads"
      var station = SimulatedStation(settings)
      station.refuses = { _ in WorkerEvent.Failure("refused.", exitCode: exitCode, .destination) }
      station.write("/a")
      station.run(until: 5 * minute)
      let hint =
        "refused. After a correction, run systemctl restart uploads: systemd passes secrets on only when the service starts."
      let message = expected ? hint : "refused."
      #expect(
        station.notices.last?.message
          == message + " Nothing is sent until this is fixed; the watcher retries every hour.")
      let shown = station.machine.snapshot(destination: "", [], now: station.now, unixSeconds: station.unixSeconds)
      var reason = ""
      if case .trouble(.paused, _, _, let text) = shown.state { reason = text }
      #expect(reason == message)
    }
  }

  @Test func a403ConcernsAFileAndASecondOneTheDestination() {
    let failure = WorkerEvent.Failure("403.", exitCode: 6, .file, status: 403)
    var station = station(failure, of: ["/a"], writing: ["/b", "/c"])
    station.run(until: 10 * minute)
    #expect(station.count(.setAside) == 1 && station.count(.paused) == 0 && station.deliveries.count == 2)
    station = self.station(failure, of: ["/a", "/b", "/c"])
    station.run(until: 10 * minute)
    #expect(station.count(.paused) == 1 && station.deliveries.isEmpty)
    station.refuses = { _ in nil }
    station.run(until: 90 * minute)
    #expect(station.isComplete)
  }

  @Test func anOutageIsWaitedOutWithFewerAndFewerAttempts() {
    var station = SimulatedStation()
    station.isNetworkUp = false
    for number in 0..<100 { station.write("/\(number)") }
    station.run(until: 3 * 24 * 60 * minute)
    // At most one each eleven minutes, once the back-off is at its end.
    #expect(station.workerCount < 3 * 24 * 60 / 5 && station.workerCount > 100)
    #expect(station.count(.unreachable) == 1)
    station.isNetworkUp = true
    station.machine.retryNow(now: station.now)
    station.run(until: station.now + 60 * minute)
    #expect(station.isComplete && station.count(.resumed) == 1)
  }

  @Test func aRecordingThatMakesTheServerFailDoesNotHoldUpOthers() {
    let failure = WorkerEvent.Failure("500.", exitCode: 9, .network, status: 500)
    var station = station(failure, of: ["/a"], writing: ["/b", "/c", "/d"])
    station.run(until: 60 * minute)
    #expect(station.deliveries.count == 3 && station.count(.setAside) == 1)
  }

  /// Each form was sent three times within a day, which is the limit. That says nothing about the recordings.
  @Test func aServerThatFailsAfterEachWholeFormIsWaitedOut() {
    let day: Int64 = 24 * 60 * minute
    let failure = WorkerEvent.Failure("500.", exitCode: 9, .file, status: 500, waitMilliseconds: day)
    var station = station(failure, of: ["/a", "/b", "/c"])
    station.run(until: 60 * minute)
    #expect(station.machine.report.totals.failedCount == 3 && station.count(.unreachable) == 1)
    station.run(until: day)
    #expect(station.machine.report.totals.failedCount == 3)
    station.refuses = { _ in nil }
    station.run(until: 2 * day)
    #expect(station.isComplete && station.count(.setAside) == 0 && station.count(.resumed) == 1)
  }

  /// A machine that was given a recording of this size, which was sent completely three times, in vain.
  private func postponed(size: Int64, waitMilliseconds: Int64 = 86_400_000) -> WatchMachine {
    var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
    let file = WatchedFile(key: 1, size: size, modifiedSeconds: 0, writers: .noWriter)
    for now: Int64 in [0, 1] { machine.noteInspection([1], .file(file), now: now) }
    machine.workerStarted()
    _ = machine.give([1])
    fail(&machine, at: 1, waitMilliseconds)
    return machine
  }

  private func fail(_ machine: inout WatchMachine, at now: Int64, _ waitMilliseconds: Int64 = 86_400_000) {
    let failure = WorkerEvent.Failure(
      "500.", exitCode: 9, .file, status: 500, waitMilliseconds: waitMilliseconds)
    machine.handle(WorkerEvent(.failed(failure), path: [1]), now: now, unixSeconds: 0)
  }

  /// Another recording is found and delivered.
  private func deliver(_ size: Int64, _ machine: inout WatchMachine, at now: Int64) {
    let path = Array(String(now).utf8)
    let file = WatchedFile(key: UInt64(now), size: size, modifiedSeconds: 0, writers: .noWriter)
    for time in [now - 1, now] { machine.noteInspection(path, .file(file), now: time) }
    #expect(machine.give(path) != nil)
    machine.handle(WorkerEvent(.delivered(assetID: nil, size: size), path: path), now: now, unixSeconds: 0)
  }

  private func nextAttempt(_ machine: WatchMachine) -> Int64? { machine.candidates.first { $0.path == [1] }?.dueAt }

  @Test func aDeliveryOfHalfTheSizeAllowsOneMoreFullSendEverySixHours() {
    let (hour, day) = (60 * minute, 24 * 60 * minute)
    var machine = postponed(size: 1000)
    #expect(nextAttempt(machine) == day + 1)
    deliver(499, &machine, at: minute)
    #expect(nextAttempt(machine) == day + 1)
    deliver(500, &machine, at: 2 * minute)
    #expect(nextAttempt(machine) == 2 * minute)
    _ = machine.give([1])
    fail(&machine, at: 3 * minute)
    deliver(1000, &machine, at: 5 * hour)
    #expect(nextAttempt(machine) == day + 3 * minute)
    deliver(1000, &machine, at: 7 * hour)
    #expect(nextAttempt(machine) == 7 * hour)
  }

  /// The pause between two full sends stays, and costs nothing.
  @Test(arguments: [10_000, 64_999] as [Int64])
  func aDeliveryDoesNotEndAPauseThatEndsWithinAMinute(milliseconds: Int64) {
    var machine = postponed(size: 1000, waitMilliseconds: milliseconds)
    deliver(1000, &machine, at: 5000)
    #expect(nextAttempt(machine) == milliseconds + 1 && machine.candidates[0].extraFrom == 0)
  }

  @Test func aRequestOfAPersonAllowsOneMoreFullSendAtOnce() {
    var machine = postponed(size: 1000)
    machine.retryEverything(now: minute)
    #expect(nextAttempt(machine) == minute)
  }

  /// The record knows when the last one was made before its time.
  @Test func aRestartAllowsOneMoreFullSendEverySixHours() throws {
    var sends = try #require(FullSends(.refused, times: [100, 110, 170]))
    func restarted(at unixSeconds: Int64) throws -> WatchMachine {
      var file = WatchedFile(key: 1, size: 1000, modifiedSeconds: 0, writers: .noWriter, isBegun: true)
      file.pause = WatchedFile.Pause(sends, message: "500.", unixSeconds: unixSeconds)
      var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
      for now: Int64 in [0, 1] { machine.noteInspection([1], .file(file), now: now) }
      return machine
    }
    #expect(try nextAttempt(restarted(at: 200)) == 1)
    sends.add(.refused, atSeconds: 200)
    let again = try restarted(at: 300)
    let dayAfterTheSecond: Int64 = 1 + (110 + 86_400 - 300) * 1000
    #expect(nextAttempt(again) == dayAfterTheSecond)
    let group = again.snapshot(destination: "", [], now: 1, unixSeconds: 300)
    #expect(group.postponed.map(\.message) == ["500."] && group.postponed.first?.nextAttempt == 110 + 86_400)
    #expect(group.postponedCount == 1 && group.waitingCount == 1)
    #expect(try nextAttempt(restarted(at: 200 + 21_600)) == 1)
    #expect(WatchedFile.Pause(sends, message: nil, unixSeconds: 110 + 86_400) == nil)
  }

  @Test(arguments: [
    (FileWriters.writer, "It is still being written."), (.notNow(SystemError(code: 24)), "cannot be found out now."),
    (.undetectable(SystemError(code: 22)), "when it has not changed for some time."),
    (.noWriter, "It has just changed."),
  ])
  func theStatusSaysWhyARecordingCannotBeSentYet(writers: FileWriters, reason: String) {
    var machine = WatchMachine(.init(settleMilliseconds: 10), seed: 1)
    let file = WatchedFile(key: 1, size: 1000, modifiedSeconds: 0, writers: writers)
    machine.noteInspection([1], .file(file), now: 0)
    machine.noteInspection([1], .file(file), now: 1)
    let group = machine.snapshot(destination: "", [], now: 1, unixSeconds: 300)
    #expect(group.unreadyCount == 1 && group.unready.map(\.message).first?.hasSuffix(reason) == true)
    #expect(group.waitingCount == 1 && group.postponedCount == 0)
    machine.noteInspection([1], .file(file), now: 20)
    #expect(
      (machine.snapshot(destination: "", [], now: 20, unixSeconds: 300).unreadyCount == 0) == (writers == .noWriter))
  }

  /// The server has said what is wrong with the recording, each time.
  @Test func aRefusalIsNoOutageHoweverOftenTheRecordingWasSent() {
    let failure = WorkerEvent.Failure(
      "400.", exitCode: 7, .file, status: 400, waitMilliseconds: 24 * 60 * minute,
      again: .rarely)
    var station = station(failure, of: ["/a"], writing: ["/b"])
    station.run(until: 10 * minute)
    #expect(station.count(.setAside) == 1 && station.count(.unreachable) == 0 && station.deliveries.count == 1)
  }

  @Test func anUploadThatGetsFurtherEachTimeStaysTheFirst() {
    var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
    for path: UInt8 in [1, 2] {
      let file = WatchedFile(
        key: UInt64(path), size: 1000, modifiedSeconds: Int64(path), writers: .noWriter, isBegun: path == 2)
      for now: Int64 in [0, 1] { machine.noteInspection([path], .file(file), now: now) }
    }
    let lost = WorkerEvent.Kind.failed(.init("lost.", exitCode: 4, .network))
    var now: Int64 = 1
    func attempt(_ bytes: Int64) -> [UInt8]? {
      now += 2 * Limits.watchRetryMaximumMilliseconds
      machine.workerStarted()
      guard case .offer(let path) = machine.next(now: now), machine.give(path) != nil else { return nil }
      machine.handle(WorkerEvent(.start, path: path), now: now, unixSeconds: 0)
      machine.handle(WorkerEvent(.progress(bytes: bytes, total: 1000), path: path), now: now, unixSeconds: 0)
      machine.handle(WorkerEvent(lost, path: path), now: now, unixSeconds: 0)
      machine.workerEnded(.exited(4), now: now, unixSeconds: 0)
      return path
    }
    #expect([100, 200, 300].map { attempt($0) } == [[2], [2], [2]])
    // Now it gets no further.
    #expect([300, 1].map { attempt($0) } == [[2], [1]])
  }

  @Test func aRecordingWhoseWorkerHasEndedGoesFirst() {
    var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
    func find(_ path: UInt8) {
      let file = WatchedFile(key: UInt64(path), size: 1000, modifiedSeconds: Int64(path), writers: .noWriter)
      for now: Int64 in [0, 1] { machine.noteInspection([path], .file(file), now: now) }
    }
    find(2)
    machine.workerStarted()
    #expect(machine.next(now: 1) == .offer([2]) && machine.give([2]) != nil)
    machine.handle(WorkerEvent(.start, path: [2]), now: 1, unixSeconds: 0)
    find(1)
    machine.workerEnded(.exited(1), now: 1, unixSeconds: 0)
    machine.workerStarted()
    #expect(machine.next(now: Limits.watchRetryMaximumMilliseconds) == .offer([2]))
  }

  /// A recording that no connection survives does not starve those that come later.
  @Test func aRecordingWhoseConnectionAlwaysBreaksDoesNotHoldUpOthers() {
    var station = station(WorkerEvent.Failure("lost.", exitCode: 4, .network), of: ["/a"])
    station.run(until: 5 * minute)
    for name in ["/b", "/c"] { station.write(name) }
    station.run(until: 60 * minute)
    #expect(station.deliveries.count == 2 && station.count(.setAside) == 0)
    station.refuses = { _ in nil }
    station.run(until: 90 * minute)
    #expect(station.isComplete)
  }

  @Test func aCrashCostsOneRetryAndThreeSetAside() {
    var station = SimulatedStation()
    station.write("/a")
    for count in 1...3 {
      while station.machine.next(now: station.now) != .wait(until: .max) || station.machine.worker.state == .none {
        station.run(until: station.now + 500)
        if station.machine.worker.state == .open || station.machine.worker.state == .closing { break }
      }
      station.run(until: station.now + 1000)
      station.killWorker()
      #expect(station.count(.setAside) == 0 || count == 3)
    }
    station.run(until: station.now + minute)
    #expect(station.count(.setAside) == 1)
    station.write("/b")
    station.run(until: station.now + 20 * minute)
    #expect(station.deliveries.count == 1)
  }

  /// Because of its name, for example.
  @Test func aRecordingThatEndsTheWorkerBeforeItBeginsDoesNotHoldUpOthers() {
    var station = SimulatedStation()
    station.endsWorker = { $0 == Array("/a".utf8) }
    for name in ["/a", "/b", "/c", "/d"] { station.write(name) }
    station.run(until: 10 * minute)
    #expect(!station.deliveries.isEmpty && station.machine.leftAlone.setAside.contains { $0.path == Array("/a".utf8) })
    station.run(until: 120 * minute)
    #expect(station.deliveries.count == 3)
  }

  /// The attempt in progress has still used the old password.
  @Test func credentialsThatChangeDuringAnAttemptAreTriedAfterIt() {
    var health = DestinationHealth()
    _ = health.notePause("password.", now: 0, unixSeconds: 0)
    health.beginAttempt()
    health.retryNow(now: 5)
    #expect(health.nextAttemptAt == nil)
    _ = health.notePause("password.", now: 10, unixSeconds: 0)
    #expect(health.nextAttemptAt == 10)
    health.beginAttempt()
    _ = health.notePause("password.", now: 20, unixSeconds: 0)
    #expect(health.nextAttemptAt == 20 + Limits.watchProbeMilliseconds)
    // Another upload, which began before they changed, has failed, too.
    health.retryNow(now: 30)
    _ = health.notePause("password.", now: 40, unixSeconds: 0)
    #expect(health.nextAttemptAt == 30)
  }

  @Test func anotherProcessIsWaitedFor() {
    var station = station(WorkerEvent.Failure("busy.", exitCode: 11, .file), of: ["/a"])
    station.run(until: 10 * minute)
    #expect(station.count(.setAside) == 0 && station.machine.report.totals.failedCount > 3)
    station.refuses = { _ in nil }
    station.run(until: 15 * minute)
    #expect(station.isComplete)
  }

  @Test func aWorkerThatRefusesItsOptionsPauses() {
    var station = SimulatedStation()
    station.write("/a")
    while station.machine.worker.state == .none { station.run(until: station.now + 1000) }
    station.machine.workerEnded(.exited(2), now: station.now, unixSeconds: 0)
    #expect(station.machine.awaitsCredentials)
    _ = station.machine.next(now: station.now)
    #expect(station.machine.takeNotices().map { $0.kind } == [.paused])
  }

  /// Without memory for another process, for example.
  @Test func aWorkerThatCannotBeStartedIsTriedLessAndLessOften() {
    var station = SimulatedStation()
    station.canStartWorkers = false
    station.write("/a")
    station.run(until: 24 * 60 * minute)
    #expect((100...300).contains(station.workerCount))
    #expect(station.count(.failing) == 1 && station.count(.unreachable) == 0)
    station.canStartWorkers = true
    station.run(until: station.now + 15 * minute)
    #expect(station.isComplete && station.count(.resumed) == 1)
  }

  /// As with a state directory without permission.
  @Test func aFailureOfThisMachineIsNoUnreachableServer() {
    var station = station(WorkerEvent.Failure("no.", exitCode: 13, .machine), of: ["/a"])
    station.run(until: 5 * minute)
    #expect(station.count(.failing) == 1 && station.count(.unreachable) == 0)
    let group = station.machine.snapshot(destination: "", [], now: station.now, unixSeconds: station.unixSeconds)
    guard case .trouble(.failing, _, _, "no.") = group.state else {
      Issue.record("called something else")
      return
    }
  }

  @Test func aPausedDestinationWhoseWorkerCannotBeStartedIsTriedEveryTenMinutes() {
    var station = station(WorkerEvent.Failure("401.", exitCode: 6, .destination, status: 401), of: ["/a"])
    station.run(until: 5 * minute)
    #expect(station.count(.paused) == 1 && station.workerCount == 1)
    station.canStartWorkers = false
    station.run(until: 3 * 60 * minute)
    // The first time after an hour.
    #expect((10...13).contains(station.workerCount - 1))
    #expect(station.count(.unreachable) == 0 && station.machine.awaitsCredentials)
  }

  @Test func aBlockKeepsEverythingBack() {
    var station = SimulatedStation()
    for block in [WatchMachine.Block.clock, .interface("wlan0"), .formerUpload] {
      station.write("/a", size: station.now + 1)
      station.machine.block = block
      station.run(until: station.now + 60 * minute)
      #expect(station.machine.worker.state == .none && !station.isComplete)
      station.machine.block = nil
      station.run(until: station.now + 5 * minute)
      #expect(station.isComplete)
    }
  }

  @Test func aBlockThatComesLaterLeavesTheWorkerWhatItHas() {
    var station = SimulatedStation()
    for name in ["/a", "/b", "/c", "/d", "/e"] { station.write(name) }
    station.run(until: 35_000)
    station.machine.block = .interface("wlan0")
    station.run(until: 60 * minute)
    #expect(station.machine.worker.state == .none)
    #expect(station.deliveries.count == Limits.watchedAheadCount + 1)
  }

  @Test func aDirectoryThatIsGoneLeavesNoCandidates() {
    var station = SimulatedStation()
    station.write("/one/a")
    station.write("/two/a")
    station.machine.forget(under: Array("/one".utf8))
    #expect(station.machine.candidates.map { $0.path } == [Array("/two/a".utf8)])
  }

  @Test func candidatesAreBoundedAndTheOthersAreFoundAgain() {
    var station = SimulatedStation()
    for number in 0..<Limits.watchedCandidates - 10 { station.write("/full/\(number)") }
    for number in 0..<30 { station.write("/\(number)") }
    #expect(station.machine.candidates.count == Limits.watchedCandidates)
    station.files = station.files.filter { !$0.key.starts(with: Array("/full/".utf8)) }
    station.machine.forget(under: Array("/full".utf8))
    station.run(until: 60 * minute)
    #expect(station.isComplete && station.deliveries.count == 30)
  }
}
