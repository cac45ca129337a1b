import Testing

@testable import UploadCore

struct GrowingFileTests {
  private func look(
    _ length: Int64, changed: Int64 = 5, age: Int64 = 0, _ writers: FileWriters = .noWriter
  ) -> GrowingFile.Look {
    GrowingFile.Look(
      length: length, changed: StatusTime(seconds: changed, nanoseconds: 0), ageMilliseconds: age, writers: writers)
  }

  @Test func itHasEndedWhenItHasNotChangedForLongEnough() {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let looks: [(at: Int64, GrowingFile.Look, hasEnded: Bool)] = [
      (0, look(7), false), (999, look(7), false), (1000, look(7), true),
      // More content, or only another time.
      (1500, look(8), false), (2499, look(8), false), (2500, look(8), true), (2600, look(8, changed: 6), false),
      (3600, look(8, changed: 6), true),
    ]
    for (now, look, expected) in looks {
      let hasEnded = file.hasEnded(look, nowMilliseconds: now)
      #expect(hasEnded == expected, "\(now)")
    }
    #expect(file.length == 8)
  }

  @Test(arguments: [FileWriters.writer, .notNow(SystemError(code: 24))])
  func aRecorderThatPausesIsWaitedFor(writers: FileWriters) {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let looks = [0, 1000, 1_000_000].map { file.hasEnded(look(7, writers), nowMilliseconds: $0) }
    let afterwards = file.hasEnded(look(7), nowMilliseconds: 1_000_001)
    #expect(looks == [false, false, false] && afterwards)
  }

  @Test func onlyTimeDecidesWhereNobodyCanTellWhoWrites() {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let unknown = FileWriters.undetectable(SystemError(code: 13))
    let (first, second) = (
      file.hasEnded(look(7, unknown), nowMilliseconds: 0), file.hasEnded(look(7, unknown), nowMilliseconds: 1000)
    )
    #expect(!first && second)
  }

  @Test(arguments: [(1000, true), (999, false), (-5_000_000, false)] as [(Int64, Bool)])
  func whatWasFinishedBeforeIsNotWaitedFor(age: Int64, hasEnded: Bool) {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let found = file.hasEnded(look(7, age: age), nowMilliseconds: 50)
    #expect(found == hasEnded)
  }

  @Test func whatHasNotArrivedIsAsOldAsItsFirstByte() {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let part = Limits.partLength
    // The first part comes last.
    let steps: [(at: Int64, length: Int64, delivered: Int64, behind: Int64)] = [
      (0, 100, 0, 0), (1000, 200, 0, 1000), (2000, part + 10, 0, 2000), (3000, part + 20, 10, 0),
      (4000, part + 30, 10, 1000),
      (5000, part + 30, 19, 2000), (6000, part + 30, 20, 2000), (7000, part + 30, 30, 0), (7100, part + 31, 30, 0),
      (8000, part + 31, 30, 900),
    ]
    for (now, length, delivered, behind) in steps {
      let progress = file.progress(delivered: delivered, of: length, nowMilliseconds: now)
      #expect(
        progress == UploadProgress(deliveredBytes: delivered, totalBytes: length, behindMilliseconds: behind), "\(now)")
    }
  }

  @Test func inOrderItsFirstPartHasArrived() {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    for now in [0, 1000, 2000] as [Int64] {
      let progress = file.progress(delivered: 10, isInOrder: true, of: 10 + now, nowMilliseconds: now)
      #expect(progress.behindMilliseconds == max(0, now - 1000), "\(now)")
    }
  }

  @Test func aRecordingWithoutContentHasALengthToDivideBy() {
    var file = GrowingFile(LiveSending(settleMilliseconds: 1000))
    let progress = file.progress(delivered: 0, of: 0, nowMilliseconds: 0)
    #expect(progress == UploadProgress(deliveredBytes: 0, totalBytes: 1, behindMilliseconds: 0))
  }

  @Test func aRecordingThatIsFarBehindIsKnownRoughly() {
    var history = GrowthHistory()
    let second: Int64 = 1000
    for time in 0...(24 * 3600) { history.note(Int64(time) * 1_000_000, nowMilliseconds: Int64(time) * second) }
    let end = 24 * 3600 * second
    for hour: Int64 in [1, 12, 23] {
      let age = history.age(at: hour * 3600 * 1_000_000, nowMilliseconds: end)
      let exact = end - hour * 3600 * second
      #expect(age <= exact && exact - age <= 24 * 3600 * second / Int64(GrowthHistory.capacity / 2))
    }
    // It has caught up, and is cut.
    let atTheEnd = history.age(at: .max, nowMilliseconds: end)
    for time: Int64 in 1...3 { history.note(time * 10, nowMilliseconds: end + time * second) }
    history.note(15, nowMilliseconds: end + 5 * second)
    let (whole, rest) = (
      history.age(at: 0, nowMilliseconds: end + 6 * second), history.age(at: 10, nowMilliseconds: end + 6 * second)
    )
    #expect((atTheEnd, whole, rest) == (0, 5 * second, second))
  }
}
