import Testing
import UploadCore

struct UploadRecordPruningTests {
  private static let now: Int64 = 1_795_000_000
  private static let day: Int64 = 86_400

  private func record(_ phase: UploadRecord.Phase, updatedAt: Int64) -> UploadRecord {
    var record = UploadRecord.sample()
    record.state = .sample(phase)
    record.updatedAt = updatedAt
    return record
  }

  private func isOver(_ phase: UploadRecord.Phase, updatedAt: Int64) -> Bool {
    record(phase, updatedAt: updatedAt).isOver(for: UploadRecordPruningTests.day, now: UploadRecordPruningTests.now)
  }

  @Test(arguments: [UploadRecord.Phase.delivered, .failed])
  func anUploadIsOverOnceItsLastChangeIsOldEnough(phase: UploadRecord.Phase) {
    let limit = UploadRecordPruningTests.now - UploadRecordPruningTests.day
    #expect(isOver(phase, updatedAt: limit) && isOver(phase, updatedAt: limit - 1))
    #expect(!isOver(phase, updatedAt: limit + 1))
  }

  @Test(arguments: [UploadRecord.Phase.pending, .uploaded])
  func anUploadThatCanStillBeDeliveredIsNeverOver(phase: UploadRecord.Phase) {
    #expect(!isOver(phase, updatedAt: 0))
  }

  /// A clock that was wrong, or a record that was written by hand.
  @Test func impossibleTimesDoNotTrap() {
    #expect(!isOver(.delivered, updatedAt: .max))
    #expect(isOver(.delivered, updatedAt: .min))
    #expect(!record(.failed, updatedAt: 0).isOver(for: .max / 1000, now: 0))
  }
}
