import Testing

@testable import UploadCore

/// A watcher that sends recordings while they are made.
struct WatchLiveTests {
  private var machine: WatchMachine
  private let long: Int64

  init() {
    var live = LiveSending(settleMilliseconds: 30_000)
    live.lag = 8 << 20
    long = live.startingSize
    var settings = WatchMachine.Settings(settleMilliseconds: 30_000, jobs: 2)
    settings.live = live
    machine = WatchMachine(settings, seed: 1)
    machine.workerStarted()
  }

  private func file(_ size: Int64, _ writers: FileWriters = .writer, isMarked: Bool = false) -> WatchedFile {
    var file = WatchedFile(key: UInt64(size + 1), size: size, modifiedSeconds: 0, writers: writers)
    file.isMarked = isMarked
    return file
  }

  /// What is offered next, until then.
  private mutating func offered(
    _ path: [UInt8], _ file: WatchedFile, until end: Int64, from start: Int64 = 0
  ) -> (at: Int64, WatchMachine.Task?)? {
    var now = start
    while now <= end {
      switch machine.next(now: now) {
      case .inspect(let path): machine.noteInspection(path, .file(file), now: now)
      case .offer(let path):
        machine.noteInspection(path, .file(file), now: now)
        return (now, machine.give(path))
      case .wait(let until): now = max(now + 1, min(until, end + 1))
      case .startWorker: machine.workerStarted()
      case .closeInput:
        machine.inputClosed()
        machine.workerEnded(.exited(0), now: now, unixSeconds: 0)
      case .inspectEvenIfKnown: break
      }
    }
    return nil
  }

  @Test mutating func aRecordingThatGrowsIsGivenAtOnce() {
    machine.noteInspection([1], .file(file(0)), now: 0)
    let early = offered([1], file(long - 1), until: 600_000)
    #expect(early == nil)
    let (at, task) = offered([1], file(long), until: 602_000, from: 600_001) ?? (0, nil)
    #expect(at <= 602_000 && task?.seen == nil && task != nil)
  }

  @Test mutating func aRecorderThatPausesChangesNothingThatIsShown() {
    machine.noteInspection([1], .file(file(long)), now: 0)
    _ = offered([1], file(long), until: 2000)
    machine.handle(WorkerEvent(.start, path: [1]), now: 2000, unixSeconds: 100)
    var shown: [Int64?] = []
    for (now, behind) in [(102, 2), (103, 2), (104, 4), (110, 0), (111, nil)] as [(Int64, Int64?)] {
      let event = WorkerEvent(.progress(bytes: 0, total: long, behindSeconds: behind), path: [1])
      machine.handle(event, now: 2000, unixSeconds: now)
      shown.append(machine.uploads.first?.arrivedUntil)
    }
    #expect(shown == [100, 100, 100, 110, nil])
  }

  @Test(arguments: [
    (FileWriters.noWriter, false), (.writer, true), (.undetectable(SystemError(code: 13)), false),
    (.notNow(SystemError(code: 24)), false),
  ])
  mutating func onlyOneThatIsBeingWrittenIs(writers: FileWriters, isMarked: Bool) {
    let file = file(long, writers, isMarked: isMarked)
    machine.noteInspection([1], .file(file), now: 0)
    let task = offered([1], file, until: 29_999)
    #expect(task == nil)
  }

  @Test mutating func whatWasDeliveredBeforeIsComparedWhenNobodyWritesToIt() {
    machine.noteInspection([1], .file(file(long)), now: 0)
    _ = offered([1], file(long), until: 2000)
    machine.handle(WorkerEvent(.comparisonDue, path: [1]), now: 2000, unixSeconds: 0)
    let open = offered([1], file(long), until: 100_000, from: 2000)
    #expect(open != nil && open?.1 == nil)
    let closed = offered([1], file(long, .noWriter), until: 200_000, from: 100_000)
    #expect(closed?.1?.seen != nil && closed?.1?.isComparison == true)
  }

  @Test mutating func onePlaceIsForWhatIsFinished() {
    for path: [UInt8] in [[1], [2]] { machine.noteInspection(path, .file(file(long + Int64(path[0]))), now: 0) }
    let first = offered([1], file(long + 1), until: 2000)
    machine.handle(WorkerEvent(.start, path: [1]), now: 2000, unixSeconds: 0)
    let second = offered([2], file(long + 2), until: 60_000, from: 2000)
    #expect(first != nil && second == nil)
    machine.noteInspection([3], .file(file(7, .noWriter)), now: 60_000)
    machine.noteInspection([2], .nothing, now: 60_000)
    let third = offered([3], file(7, .noWriter), until: 92_000, from: 60_000)
    #expect(third?.1?.seen?.identity.size == 7)
  }

  @Test(arguments: [FileWriters.writer, .noWriter])
  mutating func underItsNewNameItIsNotSentAtTheSameTime(writers: FileWriters) {
    machine.noteInspection([1], .file(file(long, writers)), now: 0)
    let first = offered([1], file(long, writers), until: 60_000)
    machine.handle(WorkerEvent(.start, path: [1]), now: 60_000, unixSeconds: 0)
    machine.noteInspection([2], .file(file(long, .noWriter)), now: 60_000)
    let second = offered([2], file(long, .noWriter), until: 120_000, from: 60_000)
    #expect(first != nil && second == nil)
    machine.handle(WorkerEvent(.delivered(assetID: nil, size: long), path: [1]), now: 120_000, unixSeconds: 0)
    let third = offered([2], file(long, .noWriter), until: 120_001, from: 120_000)
    #expect(third != nil)
  }

  @Test mutating func whatFailsForAReasonOfItsOwnIsSentWhenItHasEnded() {
    machine.noteInspection([1], .file(file(long)), now: 0)
    let first = offered([1], file(long), until: 2000)
    #expect(first != nil)
    let failure = WorkerEvent.Failure("refused.", exitCode: 9, .file)
    machine.handle(WorkerEvent(.failed(failure), path: [1]), now: 2000, unixSeconds: 0)
    #expect(machine.takeNotices().map { $0.message } == ["refused. It will be retried."])
    let meanwhile = offered([1], file(long + 1), until: 600_000, from: 2000)
    #expect(meanwhile == nil)
    let task = offered([1], file(long + 1, .noWriter), until: 640_000, from: 600_001)?.1
    #expect(task?.seen != nil)
  }

  @Test mutating func afterATroubleOfTheNetworkItIsSentOn() {
    machine.noteInspection([1], .file(file(long)), now: 0)
    let first = offered([1], file(long), until: 2000)
    #expect(first != nil)
    let failure = WorkerEvent.Failure("no route.", exitCode: 7, .network)
    machine.handle(WorkerEvent(.failed(failure), path: [1]), now: 2000, unixSeconds: 0)
    let again = offered([1], file(long + 5), until: 600_000, from: 2000)?.1
    #expect(again != nil && again?.seen == nil)
  }
}
