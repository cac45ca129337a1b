import Testing

@testable import UploadCore

struct WatchMachineTests {
  let minute: Int64 = 60_000

  @Test func aRecordingIsGivenWhenItHasSettled() {
    var station = SimulatedStation()
    station.write("/a.wav")
    station.run(until: 29_999)
    #expect(station.workerCount == 0)
    station.run(until: 2 * minute)
    #expect(station.isComplete && station.workerCount == 1 && station.machine.worker.state == .none)
    #expect(station.count(.delivered) == 1)
  }

  @Test func aChangeStartsTheWaitAgain() {
    var station = SimulatedStation()
    for _ in 0..<10 {
      station.write("/a.wav")
      station.run(until: station.now + 29_000)
    }
    #expect(station.workerCount == 0)
    station.run(until: station.now + 2 * minute)
    #expect(station.isComplete && station.deliveries.count == 1)
  }

  @Test func aRecordingThatIsBeingWrittenIsNotSent() {
    var station = SimulatedStation()
    station.write("/live.wav", for: 60 * minute)
    station.inspect(Array("/live.wav".utf8))
    station.run(until: 59 * minute)
    #expect(station.workerCount == 0)
    station.run(until: 63 * minute)
    #expect(station.isComplete)
  }

  @Test func aRecordingThatIsOpenedAgainWhileItWaitsIsNotSentUntilItIsFinished() {
    var station = SimulatedStation()
    station.uploadMilliseconds = 10 * minute
    station.write("/a.wav")
    station.write("/b.wav")
    station.run(until: minute)
    #expect(station.machine.candidates.allSatisfy { $0.isGiven })
    // Its recorder opens it, and writes to it only later.
    station.files[Array("/b.wav".utf8)]?.writtenUntil = 30 * minute
    station.run(until: 15 * minute)
    station.write("/b.wav", size: 2000, for: 15 * minute)
    station.run(until: 29 * minute)
    #expect(station.deliveries.count == 1)
    station.run(until: 60 * minute)
    #expect(station.isComplete && station.deliveries.count == 2 && station.count(.setAside) == 0)
  }

  @Test func noRecordingIsSentWhileItsWritersAreUnknown() {
    var station = SimulatedStation()
    station.write("/a.wav")
    station.cannotOpenFiles = true
    station.run(until: 60 * minute)
    #expect(station.workerCount == 0)
    station.cannotOpenFiles = false
    station.run(until: 62 * minute)
    #expect(station.isComplete)
  }

  @Test func aFileThatCannotBeExaminedNowIsNeitherLostNorSent() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    let file = WatchedFile(key: 5, size: 1, modifiedSeconds: 0, writers: .noWriter)
    for now: Int64 in [0, 1000] { machine.noteInspection([1], .file(file), now: now) }
    machine.workerStarted()
    #expect(machine.next(now: 1000) == .offer([1]))
    machine.noteInspection([1], .unknown, now: 1000)
    #expect(machine.give([1]) == nil)
    #expect(machine.next(now: 2000) == .inspect([1]))
    machine.noteInspection([1], .file(file), now: 2000)
    #expect(machine.next(now: 2000) == .offer([1]))
    #expect(machine.give([1])?.seen == file.seen)
  }

  /// A delivered recording may have been changed since. The others are sent first, and it is compared alone.
  @Test func comparisonsComeLastAndOneByOne() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000, jobs: 2), seed: 1)
    func settle(_ path: UInt8, at now: Int64) {
      let file = WatchedFile(key: UInt64(path), size: 1, modifiedSeconds: Int64(path), writers: .noWriter)
      for now in [now - 1000, now] { machine.noteInspection([path], .file(file), now: now) }
    }
    func given(_ now: Int64) -> [UInt8] {
      var given: [UInt8] = []
      while case .offer(let path) = machine.next(now: now), let task = machine.give(path) {
        given += path + [task.isComparison ? 1 : 0]
        machine.handle(WorkerEvent(.start, path: path), now: now, unixSeconds: 0)
      }
      return given
    }
    for path: UInt8 in [1, 2] { settle(path, at: 1000) }
    machine.workerStarted()
    #expect(given(1000) == [1, 0, 2, 0])
    for path: UInt8 in [1, 2] { machine.handle(WorkerEvent(.comparisonDue, path: [path]), now: 1000, unixSeconds: 0) }
    settle(3, at: 1000)
    #expect(given(1000) == [3, 0])
    machine.handle(WorkerEvent(.delivered(assetID: nil, size: 1), path: [3]), now: 1000, unixSeconds: 0)
    _ = machine.next(now: 1000)
    #expect(given(1000) == [1, 1])
    machine.handle(WorkerEvent(.skipped(isRemovalDue: false, isCertain: false), path: [1]), now: 1000, unixSeconds: 0)
    _ = machine.next(now: 1000)
    // It has changed again: whether it was delivered is asked anew.
    let changed = WatchedFile(key: 9, size: 2, modifiedSeconds: 2, writers: .noWriter)
    for now: Int64 in [1000, 2000] { machine.noteInspection([2], .file(changed), now: now) }
    #expect(given(2000) == [2, 0])
    #expect(machine.report.totals.uncertainCount == 1)
  }

  @Test func otherPermissionsAreNoWriteAndMakeARecordingReadable() {
    func file(_ key: UInt64, changed: Int64, isWritten: Bool = false) -> WatchedFile {
      let identity = FileIdentity(
        device: 1, inode: 7, size: 9, modifiedSeconds: isWritten ? changed : 0, modifiedNanoseconds: 0, edges: "")
      let seen = FileSighting(identity: identity, changed: StatusTime(seconds: changed, nanoseconds: 0))
      return WatchedFile(key: key, seen: seen, writers: .noWriter)
    }
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    for (key, now) in [(1, 0), (2, 500), (3, 999)] as [(UInt64, Int64)] {
      machine.noteInspection([1], .file(file(key, changed: Int64(key))), now: now)
    }
    #expect(machine.next(now: 1000) == .inspect([1]))
    machine.noteInspection([1], .file(file(3, changed: 3)), now: 1000)
    machine.workerStarted()
    #expect(machine.next(now: 1000) == .offer([1]))
    machine.noteInspection([1], .file(file(4, changed: 4)), now: 1000)
    #expect(machine.give([1])?.seen == file(4, changed: 4).seen)
    // The worker cannot read it, until its permissions change.
    let failure = WorkerEvent.Failure("denied", exitCode: 3, .file)
    machine.handle(WorkerEvent(.failed(failure), path: [1], id: nil), now: 1000, unixSeconds: 0)
    machine.noteInspection([1], .file(file(5, changed: 5)), now: 1001)
    #expect(machine.takeNotices().isEmpty && machine.next(now: 1001) == .inspect([1]))
    machine.noteInspection([1], .file(file(5, changed: 5)), now: 1001)
    #expect(machine.next(now: 1001) == .offer([1]))
    machine.noteInspection([1], .file(file(6, changed: 6, isWritten: true)), now: 1001)
    #expect(machine.give([1]) == nil)
  }

  @Test func aRecordingThatGrewAfterItsDeliverySettlesTenTimesAsLong() {
    var station = SimulatedStation()
    for (take, settle) in [(1, 30_000), (2, 300_000), (3, 300_000)] as [(Int64, Int64)] {
      station.write("/a.wav", size: take * 1000)
      let begun = station.now
      station.run(until: begun + settle - 1)
      #expect(station.deliveries.count == take - 1)
      station.run(until: begun + settle + minute)
      #expect(station.deliveries.count == take)
    }
    // Another recording of that name, or one that is cut, has not grown.
    station.write("/a.wav", size: 500)
    station.run(until: station.now + minute)
    #expect(station.deliveries.count == 4)
    #expect(WatchMachine.Settings(settleMilliseconds: 60_000_000).growthSettleMilliseconds == 60_000_000)
    #expect(WatchMachine.Settings(settleMilliseconds: 1_000_000).growthSettleMilliseconds == 3_600_000)
  }

  @Test func aFileIsNotKnownAfterItsDirectoryWentAway() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    machine.noteInspection(Array("/card/a.wav".utf8), .delivered(key: 5), now: 0)
    #expect(machine.isKnown(5, at: Array("/card/a.wav".utf8)))
    machine.forget(under: Array("/card".utf8))
    #expect(!machine.isKnown(5, at: Array("/card/a.wav".utf8)))
  }

  @Test func settlingTakesFiveMinutesIfWritersCannotBeSeen() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    let file = WatchedFile(key: 5, size: 1, modifiedSeconds: 0, writers: .undetectable(SystemError(code: 22)))
    machine.noteInspection([1], .file(file), now: 0)
    machine.noteInspection([1], .file(file), now: 1000)
    #expect(machine.next(now: 1000) == .wait(until: 300_000))
    machine.noteInspection([1], .file(file), now: 300_000)
    #expect(machine.next(now: 300_000) == .startWorker)
  }

  @Test func interruptedUploadsGoFirstAndThenTheOrderHolds() {
    for (order, expected) in [(WatchOrder.oldest, "dbca"), (.newest, "dacb"), (.smallest, "dcab"), (.name, "dabc")] {
      var machine = WatchMachine(.init(settleMilliseconds: 1000, order: order), seed: 1)
      let files: [(String, Int64, Int64, Bool)] = [
        ("a", 20, 30, false), ("b", 30, 10, false), ("c", 10, 20, false), ("d", 99, 25, true),
      ]
      for (name, size, modified, isBegun) in files {
        let key = UInt64(size)
        let file = WatchedFile(key: key, size: size, modifiedSeconds: modified, writers: .noWriter, isBegun: isBegun)
        for now: Int64 in [0, 1000] { machine.noteInspection(Array(name.utf8), .file(file), now: now) }
      }
      machine.workerStarted()
      var given = ""
      while case .offer(let path) = machine.next(now: 1000), machine.give(path) != nil {
        given += String(decoding: path, as: UTF8.self)
        machine.handle(WorkerEvent(.start, path: path), now: 1000, unixSeconds: 0)
      }
      #expect(given == expected)
    }
  }

  @Test func theReasonOfAFailureIsReportedAlsoIfTheFileIsGone() {
    var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
    let file = WatchedFile(key: 1, size: 1, modifiedSeconds: 0, writers: .noWriter)
    for now: Int64 in [0, 1] { machine.noteInspection([1], .file(file), now: now) }
    machine.workerStarted()
    let isGiven = nil != machine.give([1])
    machine.handle(WorkerEvent(.start, path: [1]), now: 1, unixSeconds: 0)
    machine.handle(
      WorkerEvent(.failed(.init("it is a link.", exitCode: 3, .file)), path: [1]), now: 2, unixSeconds: 0)
    let action = machine.next(now: 2)
    #expect(isGiven && action == .inspect([1]))
    for now: Int64 in [2, 3] { machine.noteInspection([1], .nothing, now: now) }
    let notices = machine.takeNotices()
    #expect(notices.map { $0.message } == ["it is a link."] && notices.map { $0.exitCode } == [3])
    #expect(machine.candidates.isEmpty && machine.leftAlone.setAside.isEmpty)
  }

  @Test func theWorkerGetsOneMoreThanItBeginsWithAndNeverTooMany() {
    var machine = WatchMachine(.init(settleMilliseconds: 1, jobs: 2), seed: 1)
    for number: UInt8 in 1...40 {
      let file = WatchedFile(key: UInt64(number), size: 1, modifiedSeconds: 0, writers: .noWriter)
      for now: Int64 in [0, 1] { machine.noteInspection([number], .file(file), now: now) }
    }
    machine.workerStarted()
    func giveAll() -> [[UInt8]] {
      var given: [[UInt8]] = []
      while case .offer(let path) = machine.next(now: 1), machine.give(path) != nil { given.append(path) }
      return given
    }
    var waiting = giveAll()
    #expect(waiting.count == Limits.watchedAheadCount)
    var count = waiting.count
    while let path = waiting.popLast() {
      machine.handle(WorkerEvent(.start, path: path), now: 1, unixSeconds: 0)
      let more = giveAll()
      count += more.count
      waiting += more
    }
    // All of them wait for the server: none has ended.
    #expect(count == 2 + Limits.waitingUploadCount)
  }

  // MARK: Removals

  private func deliverAndKeep(_ machine: inout WatchMachine, isTemporary: Bool) {
    let file = WatchedFile(key: 5, size: 1, modifiedSeconds: 0, writers: .noWriter)
    for now: Int64 in [0, 1000] { machine.noteInspection([1], .file(file), now: now) }
    machine.workerStarted()
    #expect(machine.next(now: 1000) == .offer([1]))
    let isGiven = nil != machine.give([1])
    #expect(isGiven)
    machine.handle(WorkerEvent(.delivered(assetID: 1, size: 1), path: [1]), now: 1000, unixSeconds: 0)
    machine.handle(WorkerEvent(.kept("open.", isTemporary: isTemporary), path: [1]), now: 1000, unixSeconds: 0)
    #expect(machine.next(now: 1000) == .inspect([1]))
    #expect(machine.isKnown(5, at: [1]))
    machine.noteInspection([1], .known, now: 1000)
    #expect(machine.next(now: 1000) == .closeInput)
    machine.inputClosed()
    machine.workerEnded(.exited(0), now: 1000, unixSeconds: 0)
  }

  @Test func aRemovalThatWasPostponedIsTriedAgainAndSaidOnce() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    deliverAndKeep(&machine, isTemporary: true)
    #expect(machine.takeNotices().map(\.kind) == [.delivered, .warning])
    let due: Int64 = 1000 + 15_000
    #expect(machine.next(now: 1000) == .wait(until: due))
    #expect(machine.next(now: due) == .inspectEvenIfKnown([1]))
    let file = WatchedFile(key: 5, size: 1, modifiedSeconds: 0, writers: .noWriter)
    for now in [due, due + 1000] { machine.noteInspection([1], .file(file), now: now) }
    #expect(machine.next(now: due + 1000) == .startWorker)
    machine.workerStarted()
    let isGiven = nil != machine.give([1])
    #expect(isGiven)
    machine.handle(WorkerEvent(.skipped(isRemovalDue: true), path: [1]), now: due + 1000, unixSeconds: 0)
    machine.handle(WorkerEvent(.kept("open.", isTemporary: true), path: [1]), now: due + 1000, unixSeconds: 0)
    #expect(machine.takeNotices().isEmpty)
    #expect(machine.next(now: due + 1000) == .inspect([1]))
    machine.inputClosed()
    machine.workerEnded(.exited(0), now: due + 1000, unixSeconds: 0)
    // Each time later.
    let next = due + 60_000
    #expect(machine.next(now: due + 1000) == .wait(until: next))
    #expect(machine.next(now: next) == .inspectEvenIfKnown([1]))
    machine.noteInspection([1], .nothing, now: next)
    #expect(machine.next(now: next) == .wait(until: .max))
  }

  @Test func inTheEndEverythingIsRemoved() {
    var station = SimulatedStation()
    station.removes = true
    station.postponesRemovals = 50
    for number in 0..<200 {
      station.write("/\(number).wav")
      station.run(until: station.now + station.draw(2 * minute))
      if number % 20 == 7 { station.killWorker() }
      if number % 50 == 9 { station.reboot() }
    }
    station.run(until: station.now + 600 * minute)
    #expect(station.files.isEmpty && station.removalsDue.isEmpty)
    #expect(station.deliveries.count == 200 && station.deliveries.values.allSatisfy { $0 == 1 })
    #expect(station.machine.removals.count == 0)
  }

  @Test func aFileThatIsKeptForGoodIsNotExaminedAgain() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    deliverAndKeep(&machine, isTemporary: false)
    #expect(machine.next(now: 1000) == .wait(until: .max))
  }

  /// One question at a time tells whether it answers again; then all removals follow.
  @Test func aSilentServerIsAskedAboutOneRemovalAtATime() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    func keep(_ number: UInt8, isUnanswered: Bool, _ now: Int64) {
      let kept = WorkerEvent.Kind.kept("silent.", isTemporary: true, isUnanswered: isUnanswered)
      machine.handle(WorkerEvent(kept, path: [number]), now: now, unixSeconds: 0)
    }
    for number: UInt8 in 1...3 { keep(number, isUnanswered: true, Int64(number)) }
    var now: Int64 = 1
    for (path, delay): (UInt8, Int64) in [(1, 15_000), (2, 60_000), (3, 900_000), (1, 3_600_000), (2, 3_600_000)] {
      #expect(machine.next(now: now) == .wait(until: now + delay))
      now += delay
      #expect(machine.next(now: now) == .inspectEvenIfKnown([path]))
    }
    machine.handle(WorkerEvent(.removed(to: nil), path: [2]), now: now, unixSeconds: 0)
    machine.noteInspection([2], .nothing, now: now)
    #expect(machine.next(now: now) == .inspectEvenIfKnown([3]))
    #expect(machine.next(now: now) == .inspectEvenIfKnown([1]))
  }

  @Test func aDeliveryElsewhereIsAReasonToTryARemovalAgain() {
    var station = SimulatedStation()
    station.removes = true
    station.postponesRemovals = 100
    station.write("/a.wav")
    station.run(until: 10 * minute)
    station.postponesRemovals = 0
    station.machine.noteDeliveryElsewhere(of: Array("/b.wav".utf8), now: station.now)
    station.run(until: station.now + 2 * minute)
    #expect(!station.files.isEmpty)
    station.machine.noteDeliveryElsewhere(of: Array("/a.wav".utf8), now: station.now)
    station.run(until: station.now + 2 * minute)
    #expect(station.files.isEmpty)
  }

  @Test func removalsAreBoundedAndEndWithTheirDirectory() {
    var machine = WatchMachine(.init(settleMilliseconds: 1000), seed: 1)
    for number in 0...Limits.watchedRemovals {
      let path = Array("/d/\(number)".utf8)
      machine.handle(WorkerEvent(.kept("open.", isTemporary: true), path: path), now: 0, unixSeconds: 0)
    }
    #expect(
      machine.removals.count == Limits.watchedRemovals && machine.removals.reported.count < Limits.watchedRemovals)
    let early = machine.takeRescan()
    machine.forget(under: Array("/d".utf8))
    #expect(machine.removals.count == 0)
    // The last one is found again.
    let rescans = [machine.takeRescan(), machine.takeRescan()]
    #expect(!early && rescans == [true, false])
  }

  /// A camera's bug, or a joke: sparse files of 8 EiB.
  @Test func enormousFilesAreCounted() {
    var machine = WatchMachine(WatchMachine.Settings(settleMilliseconds: 1000), seed: 1)
    for name in ["/a.wav", "/b.wav"] {
      machine.noteInspection(bytes(name), .file(WatchedFile(key: 1, size: .max, modifiedSeconds: 0)), now: 0)
    }
    let snapshot = machine.snapshot(destination: "", [], now: 0, unixSeconds: 0)
    #expect(snapshot.waitingCount == 2 && snapshot.waitingBytes == 2 * Limits.fileSize)
  }
}
