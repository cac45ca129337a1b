import Testing
import UploadCore

struct GrowingFileTests {
  private func look(
    _ length: Int64, changed: Int64 = 5, age: Int64 = 0, _ writers: FileWriters = .noWriter
  ) -> GrowingFile.Look {
    GrowingFile.Look(
      length: length, changed: StatusTime(seconds: changed, nanoseconds: 0), ageMilliseconds: age, writers: writers)
  }

  @Test func itHasEndedWhenItHasNotChangedForLongEnough() {
    var file = GrowingFile(settleMilliseconds: 1000)
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
    var file = GrowingFile(settleMilliseconds: 1000)
    let looks = [0, 1000, 1_000_000].map { file.hasEnded(look(7, writers), nowMilliseconds: $0) }
    let afterwards = file.hasEnded(look(7), nowMilliseconds: 1_000_001)
    #expect(looks == [false, false, false] && afterwards)
  }

  @Test func onlyTimeDecidesWhereNobodyCanTellWhoWrites() {
    var file = GrowingFile(settleMilliseconds: 1000)
    let unknown = FileWriters.undetectable(SystemError(code: 13))
    let (first, second) = (
      file.hasEnded(look(7, unknown), nowMilliseconds: 0), file.hasEnded(look(7, unknown), nowMilliseconds: 1000)
    )
    #expect(!first && second)
  }

  @Test(arguments: [(1000, true), (999, false), (-5_000_000, false)] as [(Int64, Bool)])
  func whatWasFinishedBeforeIsNotWaitedFor(age: Int64, hasEnded: Bool) {
    var file = GrowingFile(settleMilliseconds: 1000)
    let found = file.hasEnded(look(7, age: age), nowMilliseconds: 50)
    #expect(found == hasEnded)
  }
}
