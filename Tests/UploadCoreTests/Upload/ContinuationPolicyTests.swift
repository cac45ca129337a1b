import Testing

@testable import UploadCore

struct ContinuationPolicyTests {
  private let sent = SentPart(length: 60, sha256: "ab", statusTime: StatusTime(seconds: 6, nanoseconds: 7))

  @Test func thePartOnTheServerIsComparedAsFarAsItIsKnown() {
    func decide(_ doubt: FileDoubt?, _ sent: SentPart?, _ offset: Int64) -> ContinuationPolicy.Decision {
      ContinuationPolicy.decide(doubt, sent: sent, offset: offset, size: 100, digestDecides: false)
    }
    #expect(decide(nil, sent, 60) == .proceed && decide(nil, nil, 60) == .proceed)
    #expect(decide(.touched, sent, 60) == .compare(sent) && decide(.replaced, sent, 1) == .compare(sent))
    #expect(decide(.touched, sent, 61) == .proceed && decide(.touched, nil, 1) == .proceed)
    #expect(decide(.replaced, sent, 61) == .startOver && decide(.replaced, nil, 1) == .startOver)
  }

  @Test func theDigestReadsTheBeginningFirstIfItAloneDecides() {
    func decide(_ doubt: FileDoubt?, _ sent: SentPart?, _ offset: Int64) -> ContinuationPolicy.Decision {
      ContinuationPolicy.decide(doubt, sent: sent, offset: offset, size: 100, digestDecides: true)
    }
    #expect(decide(nil, sent, 60) == .compare(sent) && decide(nil, sent, 61) == .read(length: 61))
    #expect(decide(nil, nil, 60) == .read(length: 60) && decide(.touched, nil, 60) == .read(length: 60))
    #expect(decide(.replaced, nil, 60) == .startOver)
    #expect(decide(nil, nil, 0) == .proceed && decide(nil, nil, 100) == .proceed)
  }

  /// The file systems are those of other sticks, or have no IDs.
  @Test func aFileIsDoubtedByItsNumberAndByItsStatusTime() {
    func doubt(
      inode: UInt64 = 2, device: UInt64 = 1, system: UInt64? = 4, nanoseconds: Int64 = 7, _ sent: SentPart?
    ) -> FileDoubt? {
      let previous = RecordedFile(path: "/set.wav", identity: identity(), fileSystemID: 4)
      return FileDoubt(
        RecordedFile(path: "/set.wav", identity: identity(device: device, inode: inode), fileSystemID: system),
        changed: StatusTime(seconds: 6, nanoseconds: nanoseconds), since: previous, sent)
    }
    #expect(doubt(sent) == nil && doubt(device: 9, sent) == nil && doubt(system: nil, sent) == nil)
    #expect(doubt(nanoseconds: 8, sent) == .touched && doubt(nanoseconds: 8, nil) == nil)
    #expect(doubt(SentPart(length: 60, sha256: "ab")) == .touched)
    for known in [sent, nil] {
      #expect(doubt(inode: 3, known) == .replaced && doubt(system: 5, known) == .replaced)
    }
    // Where numbers are not stable, and the times may be those of another mount.
    #expect(doubt(inode: 0, sent) == .touched && doubt(inode: 0, nil) == nil)
  }
}
