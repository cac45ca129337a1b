import Testing

@testable import UploadCore

/// What becomes of a record as its upload goes on.
extension UploadRecordTests {
  // MARK: Postponing

  @Test func anUploadIsPostponedUntilItsTime() {
    let until: Int64 = 1_800_000_000
    var record = plain
    fail(
      &record,
      .postponed(.refused(status: 502, message: ""), untilSeconds: until, .sentRepeatedly(count: 3)), message: "no",
      offset: 0)
    #expect(record.phase == .pending && record.unfinished?.nextRetry == until)
    #expect(record.postponedUntil(now: until - 1) == until && record.postponedUntil(now: until) == nil)
    // The clock was set back, or starts in 1970.
    #expect(record.postponedUntil(now: until - 86_401) == nil && record.postponedUntil(now: .min) == nil)
    fail(&record, .noResolver(host: "hive"), message: "no", offset: 0)
    #expect(record.unfinished?.nextRetry == nil)
  }

  @Test func fullSendsAreForgottenWithProgressAndWithAnotherContent() throws {
    var record = plain
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    let sends = try #require(FullSends(.refused, times: [1]))
    apply(.failedFullSends(sends, offset: 100), to: &record)
    #expect(record.unfinished?.fullSends == sends && record.offset == 100)
    #expect(record.renewed(by: plain, changed: now).unfinished?.fullSends == sends)
    fail(&record, .noResolver(host: "hive"), message: nil, offset: 100)
    #expect(record.unfinished?.fullSends == sends)
    let other = UploadRecord.sample(
      identity(device: 2049, inode: 131_072, size: 4_710_000_001, nanoseconds: 7, edges: fileIdentity.edges))
    #expect(record.renewed(by: other, changed: now).unfinished?.fullSends == nil)
    // A server may keep a few bytes each time.
    fail(&record, .noResolver(host: "hive"), message: nil, offset: 101)
    #expect(record.unfinished?.fullSends == sends)
    fail(&record, .noResolver(host: "hive"), message: nil, offset: 101 + 65_536)
    #expect(record.unfinished?.fullSends == nil)
  }

  @Test func aResumedUploadKeepsItsSidecar() {
    #expect(full.file.sidecar != nil && full.renewed(by: plain, changed: now).file.sidecar == full.file.sidecar)
    var own = full
    own.file.sidecar = FileSighting(identity: identity(inode: 4), changed: StatusTime(seconds: 1, nanoseconds: 0))
    #expect(full.renewed(by: own, changed: now).file.sidecar == own.file.sidecar)
  }

  // MARK: Changes

  private func fail(_ record: inout UploadRecord, _ error: UploadError, message: String?, offset: Int64) {
    record.unfinished?.apply(UploadEnd(error, offset: offset)) { _ in message }
  }

  private var now: StatusTime { StatusTime(seconds: 1_795_000_000, nanoseconds: 8) }

  private func apply(_ change: RecordChange, to record: inout UploadRecord) {
    record.unfinished?.apply(change, size: fileIdentity.size)
  }

  @Test func aNewUploadHasNothingOfTheOldOne() {
    var record = full
    apply(.created(location: "https://hive/files/2", expires: nil), to: &record)
    #expect(record.phase == .pending && record.remote == RemoteUpload(url: "https://hive/files/2"))
    #expect(!record.lastByteMayBeSent && record.unfinished?.sent == nil && record.unfinished?.doubt == nil)
  }

  @Test func stateThatIsOfNoUseAnyMoreIsForgotten() {
    var record = full
    apply(.forgotten, to: &record)
    #expect(record.phase == .pending && record.remote == nil && record.offset == 0 && !record.lastByteMayBeSent)
    #expect(record.unfinished?.sent == nil && record.unfinished?.doubt == nil)
    // It stays the same upload.
    #expect(record.id == full.id && record.note == full.note)
  }

  /// Otherwise, `resume` would not send the file as it is now.
  @Test func howAnAttemptEndedStaysWhenItsContentIsForgotten() {
    func end(_ error: UploadError) -> UploadEnd {
      var end = UploadEnd(error, offset: 7)
      end.contentDoubt = StoredDoubt.none
      return end
    }
    var record = full
    record.unfinished?.apply(end(.file("/a", .statusChanged))) { _ in "no" }
    #expect(record.phase == .failed && record.remote == nil && record.unfinished?.message == "no")
    record = full
    record.unfinished?.apply(end(.cancelled(hasSentAll: false))) { _ in nil }
    #expect(record.phase == .pending && record.remote == nil)
  }

  /// A process that is killed before it could compare leaves the doubt to the next one, for which the file is the same.
  @Test func aDoubtAboutTheFileStaysUntilItIsSettled() throws {
    var record = plain
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", offset: 7)
    var other = plain
    other.file.identity = identity(
      device: 2049, inode: 5, size: 4_710_000_000, nanoseconds: 7, edges: fileIdentity.edges)
    record = record.renewed(by: other, changed: now).renewed(by: other, changed: now)
    #expect(record.unfinished?.doubt == .replaced && record.file == other.file)
    apply(.continued, to: &record)
    #expect(record.renewed(by: other, changed: now).unfinished?.doubt == nil)
    record = record.renewed(by: plain, changed: now)
    record.unfinished?.forget()
    #expect(record.renewed(by: other, changed: now).unfinished?.doubt == nil)
  }

  @Test func theLongestPartThatIsKnownToBeSentIsKept() {
    var record = plain
    let (part, longer) = (SentPart(length: 5, sha256: "ab", statusTime: now), SentPart(length: 6, sha256: "cd"))
    func note(_ part: SentPart?) {
      var end = UploadEnd(.uploadLost, offset: 0)
      end.sent = part
      record.unfinished?.apply(end) { _ in nil }
    }
    note(part)
    #expect(record.unfinished?.sent == nil)
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    for (noted, kept) in [(part, part), (SentPart(length: 5, sha256: "ef"), part), (nil, part), (longer, longer)] {
      note(noted)
      #expect(record.unfinished?.sent == kept)
    }
    let longest = SentPart(length: 7, sha256: "01")
    // It can have been read only to compare the parts.
    record.unfinished?.parts = UploadedParts(token: "token", ofSize: 100)
    note(longest)
    #expect(record.unfinished?.sent == longer)
    record.unfinished?.parts = UploadedParts(token: "token", ofSize: 100, hasDigests: false)
    note(longest)
    #expect(record.unfinished?.sent == longest)
  }

  @Test func theLastByteAndTheWholeFileAreNoted() {
    var record = plain
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    apply(.lastByteNext, to: &record)
    #expect(record.lastByteMayBeSent && record.phase == .pending)
    apply(.uploaded, to: &record)
    #expect(record.phase == .uploaded && record.offset == fileIdentity.size)
  }

  /// A form has no address at which to ask whether the server has it.
  @Test func aFormWhoseLastByteIsSentMayBeStoredUntilAResponseSaysOtherwise() {
    var record = plain
    apply(.mayBeStored, to: &record)
    #expect(record.mayBeStored && record.phase == .failed && !record.lastByteMayBeSent)
    var again = record
    apply(.notStored, to: &again)
    #expect(again == plain)
    fail(&record, .cancelled(hasSentAll: false), message: nil, offset: 0)
    #expect(!record.mayBeStored && record.phase == .pending)
    apply(.mayBeStored, to: &record)
    fail(&record, .refused(status: 403, message: ""), message: "refused", offset: 0)
    #expect(!record.mayBeStored && record.phase == .failed && record.unfinished?.message == "refused")
  }

  @Test func theNumberOfARecordingInProgressIsThatOfTheContent() {
    var record = plain
    apply(.processing(assetID: 9), to: &record)
    #expect(record.assetID == 9 && record.phase == .pending)
    #expect(record.renewed(by: plain, changed: now).assetID == 9)
    var other = plain
    other.file.identity = identity(edges: "another")
    #expect(record.renewed(by: other, changed: now).assetID == nil)
    fail(&record, .checksumDiffers(sent: "a", stored: "b"), message: "no", offset: 0)
    #expect(record.assetID == nil)
  }

  /// Until another one is created. One that may be whole is left alone: the server may have the only copy.
  @Test(arguments: [false, true]) func aPartOfWhatTheFileWasIsToBeRemoved(mayBeWhole: Bool) throws {
    var record = plain
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    record.unfinished?.lastByteMayBeSent = mayBeWhole
    for _ in 0..<2 {
      fail(&record, .file("/a", .grew(from: 1, to: 2)), message: "grew", offset: 0)
      #expect(record.remote == nil && record.unfinished?.formerURL == (mayBeWhole ? nil : "https://hive/files/1"))
    }
    #expect(try UploadRecord(decoding: record.encoded(crc32: crc32), crc32: crc32) == record)
    apply(.created(location: "https://hive/files/2", expires: nil), to: &record)
    #expect(record.unfinished?.formerURL == nil)
  }

  /// By its address, by the one it had, or by its parts. What may be stored is left to a person.
  @Test func aPartOnTheServerIsKnown() {
    func has(_ change: (inout UploadRecord) -> Void) -> Bool {
      var record = plain
      change(&record)
      return record.hasPartOnServer
    }
    #expect(!has { _ in } && !full.hasPartOnServer && !delivered.hasPartOnServer)
    #expect(has { $0.unfinished?.remote = RemoteUpload(url: "https://hive/files/1") })
    #expect(has { $0.unfinished?.formerURL = "https://hive/files/1" })
    var parts = UploadedParts(token: "t", ofSize: fileIdentity.size)
    #expect(!has { $0.unfinished?.parts = parts })
    parts.set("tag", of: 1, sha256: "d1")
    #expect(has { $0.unfinished?.parts = parts })
  }

  @Test func anUploadThatMayBeStoredFailsAndSaysSo() {
    var record = plain
    record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    fail(&record, .mayBeStored(.uploadLost), message: "it may be stored", offset: 7)
    #expect(
      record.phase == .failed && record.mayBeStored && record.offset == 7
        && record.unfinished?.message == "it may be stored")
    // After a response without proof, it can be resumed.
    var doubted = full
    doubted.unfinished?.failure = nil
    fail(&doubted, .notFromServer(status: 404), message: nil, offset: 7)
    #expect(doubted.phase == .uploaded && doubted.remote?.url == full.remote?.url)
  }
}
