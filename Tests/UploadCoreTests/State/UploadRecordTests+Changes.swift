import Testing

@testable import UploadCore

/// What becomes of a record as its upload goes on.
extension UploadRecordTests {
  // MARK: Postponing

  @Test func anUploadIsPostponedUntilItsTime() {
    let until: Int64 = 1_800_000_000
    var record = plain
    record.recordFailure(
      .postponed(.refused(status: 502, message: ""), untilSeconds: until, .sentRepeatedly(count: 3)), message: "no",
      offset: 0)
    #expect(record.phase == .pending && record.nextRetry == until)
    #expect(record.postponedUntil(now: until - 1) == until && record.postponedUntil(now: until) == nil)
    // The clock was set back, or starts in 1970.
    #expect(record.postponedUntil(now: until - 86_401) == nil && record.postponedUntil(now: .min) == nil)
    record.recordFailure(.noResolver(host: "hive"), message: "no", offset: 0)
    #expect(record.nextRetry == nil)
  }

  @Test func fullSendsAreForgottenWithProgressAndWithAnotherContent() throws {
    var record = plain
    let sends = try #require(FullSends(.refused, times: [1]))
    record.apply(.failedFullSends(sends, offset: 100))
    #expect(record.fullSends == sends && record.offset == 100)
    #expect(record.renewed(by: plain).fullSends == sends)
    record.recordFailure(.noResolver(host: "hive"), message: nil, offset: 100)
    #expect(record.fullSends == sends)
    let other = UploadRecord(
      id: "5e1f0a78", path: plain.path,
      identity: FileIdentity(
        device: 2049, inode: 131_072, size: 4_710_000_001, modifiedSeconds: 1_795_000_000, modifiedNanoseconds: 7,
        edges: identity.edges), endpoint: "https://hive/")
    #expect(record.renewed(by: other).fullSends == nil)
    record.recordFailure(.noResolver(host: "hive"), message: nil, offset: 101)
    #expect(record.fullSends == nil)
  }

  // MARK: Changes

  @Test func aNewUploadHasNothingOfTheOldOne() {
    var record = full
    record.apply(.created(location: "https://hive/files/2", expires: nil))
    #expect(record.phase == .pending && record.uploadURL == "https://hive/files/2" && record.offset == 0)
    #expect(record.expires == nil && !record.wasUploaded && !record.lastByteMayBeSent)
  }

  @Test func whatIsOfNoUseAnyMoreIsForgotten() {
    var record = full
    record.apply(.forgotten)
    #expect(record.phase == .pending && record.uploadURL == nil && record.offset == 0 && record.expires == nil)
    #expect(!record.wasUploaded && !record.lastByteMayBeSent && !record.mayBeStored)
    // It stays the same upload.
    #expect(record.id == full.id && record.note == full.note)
  }

  @Test func theLastByteAndTheWholeFileAreNoted() {
    var record = plain
    record.uploadURL = "https://hive/files/1"
    record.apply(.lastByteNext)
    #expect(record.lastByteMayBeSent && record.phase == .pending)
    record.apply(.uploaded)
    #expect(record.phase == .uploaded && record.offset == identity.size)
  }

  /// A form has no address at which to ask whether the server has it.
  @Test func aFormWhoseLastByteIsSentMayBeStoredUntilAResponseSaysOtherwise() {
    var record = plain
    record.apply(.mayBeStored)
    #expect(record.mayBeStored && record.phase == .failed && !record.lastByteMayBeSent)
    var again = record
    again.apply(.notStored)
    #expect(again == plain)
    record.recordFailure(.cancelled(hasSentAll: false), message: nil, offset: 0)
    #expect(!record.mayBeStored && record.phase == .pending)
    record.apply(.mayBeStored)
    record.recordFailure(.refused(status: 403, message: ""), message: "refused", offset: 0)
    #expect(!record.mayBeStored && record.phase == .failed && record.message == "refused")
  }

  @Test func theNumberOfARecordingInProgressIsThatOfTheContent() {
    var record = plain
    record.apply(.processing(assetID: 9))
    #expect(record.assetID == 9 && record.phase == .pending)
    #expect(record.renewed(by: plain).assetID == 9)
    var other = plain
    other.identity = FileIdentity(
      device: 1, inode: 2, size: 301, modifiedSeconds: 4, modifiedNanoseconds: 5, edges: "another")
    #expect(record.renewed(by: other).assetID == nil)
    record.recordFailure(.checksumDiffers(sent: "a", stored: "b"), message: "no", offset: 0)
    #expect(record.assetID == nil)
  }

  @Test func whatMayBeStoredFailsAndIsCalledThat() {
    var record = plain
    record.recordFailure(.mayBeStored(.uploadLost), message: "it may be stored", offset: 7)
    #expect(record.phase == .failed && record.mayBeStored && record.offset == 7 && record.message == "it may be stored")
    // After a response without proof, it can be resumed.
    var doubted = full
    doubted.mayBeStored = false
    doubted.recordFailure(.notFromServer(status: 404), message: nil, offset: 7)
    #expect(doubted.phase == .uploaded && doubted.uploadURL == full.uploadURL)
  }
}
