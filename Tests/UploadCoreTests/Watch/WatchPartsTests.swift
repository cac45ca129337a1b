import Testing

@testable import UploadCore

struct DestinationHealthTests {
  @Test func theDelayDoublesUpToTenMinutes() {
    for (failures, least, most) in [
      (1, 1000, 2000), (2, 2000, 4000), (9, 256_000, 512_000), (20, 300_000, 600_000), (5000, 300_000, 600_000),
    ] as [(Int64, Int64, Int64)] {
      #expect(DestinationHealth.delay(failures: failures, random: 0) == least)
      for random in [UInt64(1), 77, 123_456_789, .max] {
        #expect((least...most).contains(DestinationHealth.delay(failures: failures, random: random)))
      }
    }
  }

  @Test func severalFailuresAtATimeCountOnce() {
    var health = DestinationHealth()
    var news = [health.noteFailure("a", now: 0, unixSeconds: 5, random: 0)]
    let first = health.nextAttemptAt
    news.append(health.noteFailure("b", now: 10, unixSeconds: 6, random: 0))
    #expect(health.nextAttemptAt == first)
    health.beginAttempt()
    news.append(health.noteFailure("c", now: 2000, unixSeconds: 7, random: 0))
    #expect(news == [true, false, false])
    #expect(health.nextAttemptAt == 4000)
    let expected = DestinationHealth.Trouble(
      kind: .unreachable, since: 5, message: "c", attempt: .at(4000), failures: 2)
    #expect(health.trouble == expected)
  }

  @Test func aPauseIsProbedEveryHour() {
    var health = DestinationHealth()
    var news = [health.notePause("401", now: 0, unixSeconds: 5)]
    #expect(health.nextAttemptAt == 3_600_000)
    health.beginAttempt()
    #expect(health.nextAttemptAt == nil)
    news.append(health.notePause("401", now: 3_600_000, unixSeconds: 9))
    #expect(news == [true, false])
    #expect(health.nextAttemptAt == 7_200_000)
    let successes = [health.noteSuccess(), health.noteSuccess()]
    #expect(successes == [true, false] && health.isReady)
  }

  @Test func anInconclusiveProbeIsFollowedByAnother() {
    var health = DestinationHealth()
    _ = health.notePause("401", now: 0, unixSeconds: 0)
    health.noteInconclusive(now: 1)
    #expect(health.nextAttemptAt == 3_600_000)
    health.beginAttempt()
    health.noteInconclusive(now: 1)
    #expect(health.nextAttemptAt == 1)
  }
}

struct KnownFilesTests {
  @Test func filesAreForgottenOnlyWhenTheListIsFull() {
    var known = KnownFiles()
    let keys = [0] + (0..<100_000).map { WatchedFile.key([], [UInt64($0)]) }
    for key in keys { known.insert(key) }
    #expect(keys.allSatisfy { known.contains($0) })
    #expect(!known.contains(WatchedFile.key([1], [])))
    for number in 0..<200_000 { known.insert(WatchedFile.key([2], [UInt64(number)])) }
    #expect(known.count <= Limits.watchedKnownCount)
    let last = WatchedFile.key([2], [199_999])
    #expect(known.contains(last))
  }
}

struct WatchHistoryTests {
  private func machine(_ delivered: Int64) -> WatchMachine {
    var machine = WatchMachine(.init(settleMilliseconds: 1), seed: 1)
    machine.report.totals.deliveredCount = delivered
    machine.report.lastDelivery = WatchSnapshot.LastDelivery(id: nil, path: [], assetID: nil, at: delivered)
    return machine
  }

  private func history(_ delivered: Int64, _ destination: String, _ directory: LocalPath) -> WatchHistory {
    var machine = machine(delivered)
    return machine.takeHistory(destination: destination, directories: [directory])
  }

  @Test func aGroupGoesOnWithTheFiguresOfTheOneThatItReplaces() {
    let former = [
      history(1, "https://a/", "/one"), history(2, "https://a/", "/two"), history(3, "https://b/", "/three"),
    ]
    let groups: [(destination: String, directories: [LocalPath])] = [
      ("https://a/", ["/new"]), ("https://a/", ["/one", "/x"]), ("https://c/", ["/three"]), ("https://a/", ["/newer"]),
    ]
    let assigned = WatchHistory.assigned(former, to: groups)
    #expect(assigned.map { $0?.totals.deliveredCount } == [2, 1, nil, nil])
  }

  @Test func uploadsThatTheFormerGroupStillDoesCountToo() {
    var (former, next) = (machine(5), machine(0))
    next.add(former.takeHistory(destination: "", directories: []))
    #expect(former.report.totals == WatchSnapshot.Totals())
    former.report.totals.deliveredCount = 1
    former.report.lastDelivery?.at = 4
    next.report.totals.deliveredCount += 2
    next.add(former.takeHistory(destination: "", directories: []))
    #expect(next.report.totals.deliveredCount == 8 && next.report.lastDelivery?.at == 5)
  }
}

struct WorkerEventTests {
  private func event(_ text: String) -> WorkerEvent? { WorkerEvent(parsing: Array(text.utf8)) }

  @Test func everyKindIsRead() {
    let file = #""file":"/rec/a","id":"5e1f0a77""#
    let cases: [(String, WorkerEvent.Kind)] = [
      (#"{"event":"start",\#(file)}"#, .start),
      (#"{"event":"progress",\#(file),"bytes":5,"total":9,"seconds":1.0}"#, .progress(bytes: 5, total: 9)),
      (
        #"{"event":"progress",\#(file),"bytes":5,"total":9,"behind_seconds":3}"#,
        .progress(bytes: 5, total: 9, behindSeconds: 3)
      ),
      (#"{"event":"delivered",\#(file),"asset_id":17,"total":9}"#, .delivered(assetID: 17, size: 9)),
      (#"{"event":"delivered",\#(file)}"#, .delivered(assetID: nil, size: nil)),
      (#"{"event":"skipped",\#(file)}"#, .skipped(isRemovalDue: false)),
      (#"{"event":"skipped",\#(file),"removal_due":true}"#, .skipped(isRemovalDue: true)),
      (#"{"event":"skipped",\#(file),"compared":false}"#, .skipped(isRemovalDue: false, isCertain: false)),
      (#"{"event":"skipped",\#(file),"other_event":"A"}"#, .skipped(isRemovalDue: false, otherEvent: "A")),
      (#"{"event":"comparison_due",\#(file)}"#, .comparisonDue),
      (#"{"event":"retry",\#(file)}"#, .other),
      (
        #"{"event":"failed",\#(file),"exit_code":6,"concerns":"destination","message":"m","answer":{"status":401,"body":""}}"#,
        .failed(.init("m", exitCode: 6, .destination, status: 401))
      ),
      (#"{"event":"failed",\#(file),"exit_code":2,"message":"m"}"#, .failed(.init("m", exitCode: 2))),
      (#"{"event":"removed",\#(file)}"#, .removed(to: nil)),
      (#"{"event":"removed",\#(file),"to":"/sent/a"}"#, .removed(to: "/sent/a")),
      (#"{"event":"kept",\#(file),"message":"m"}"#, .kept("m", isTemporary: false)),
      (#"{"event":"kept",\#(file),"message":"m","temporary":true}"#, .kept("m", isTemporary: true)),
      (
        #"{"event":"kept",\#(file),"message":"m","temporary":true,"unanswered":true}"#,
        .kept("m", isTemporary: true, isUnanswered: true)
      ),
      (#"{"event":"later",\#(file)}"#, .other),
    ]
    for (text, kind) in cases {
      #expect(event(text) == WorkerEvent(kind, path: Array("/rec/a".utf8), id: "5e1f0a77"), "\(text)")
    }
  }

  @Test func theAdviceToResumeIsNotPartOfTheMessage() {
    let text =
      #"{"event":"failed","file":"/a","exit_code":4,"message":"Lost.","resume":"gighive-upload resume 5e1f0a77"}"#
    #expect(event(text)?.kind == .failed(.init("Lost.", exitCode: 4)))
  }

  /// A watcher tries everything once a day, whatever the worker says.
  @Test(arguments: [("5", 5000), ("0", 0), ("86401", 86_400_000), ("-1", nil), ("true", nil)] as [(String, Int64?)])
  func howLongARecordingMustNotBeTried(seconds: String, milliseconds: Int64?) {
    let text = #"{"event":"failed","file":"/a","exit_code":9,"message":"500.","wait_seconds":"# + seconds + "}"
    #expect(event(text)?.kind == .failed(.init("500.", exitCode: 9, waitMilliseconds: milliseconds)))
  }

  @Test func aPathThatIsNotUTF8IsExact() {
    #expect(
      event(#"{"event":"start","file":"/caf\#u{FFFD}","file_percent":"/caf%E9","id":null}"#)?.path == Array("/caf".utf8)
        + [0xE9])
    #expect(event(#"{"event":"start","file":"/x","file_percent":"/%E"}"#) == nil)
  }

  @Test(arguments: ["", "x", "[]", "{}", #"{"event":5}"#, #"{"event":"start""#]) func otherLinesAreNotEvents(
    _ text: String
  ) {
    #expect(event(text) == nil)
  }

  @Test func linesComeWholeWhateverThePieces() {
    let text = Array("one\n\ntwo\nthree".utf8)
    for size in 1...text.count {
      var lines = WorkerLines()
      var found: [[UInt8]] = []
      for start in stride(from: 0, to: text.count, by: size) {
        lines.add(text[start..<min(start + size, text.count)]) { found.append($0) }
      }
      #expect(found.map { String(decoding: $0, as: UTF8.self) } == ["one", "", "two"])
    }
  }

  @Test func aLineThatIsTooLongIsDropped() {
    var lines = WorkerLines()
    var found: [Int] = []
    for count in [Limits.workerLineLength, Limits.workerLineLength + 1, 5] {
      lines.add([UInt8](repeating: 0x61, count: count) + [0x0A]) { found.append($0.count) }
    }
    #expect(found == [Limits.workerLineLength, 5])
  }
}
