import Testing
import UploadCore

/// What follows from GigHive's answer whether it still has a recording, beside the conversations in `Transcripts/gighive/presence.txt`.
struct PresenceTests {
  /// Guests may not look at files.
  @Test func onlyAFileThatMayNotBeLookedAtCanBeTrusted() {
    var after = AfterDelivery()
    #expect(after.keptReason(for: nil) == nil && after.keptReason(for: .hidden) == .lacking(.hidden))
    after.trustsServer = true
    #expect(after.keptReason(for: .hidden) == nil)
    for absence in [.absent, .different, .withoutFile, .misnamed, .cached] as [Absence] {
      #expect(after.keptReason(for: absence) == .lacking(absence))
      // Another response than that of a cache may come from the server.
      #expect(KeptReason.lacking(absence).isTemporary == (absence == .cached))
    }
  }

  @Test func onlyADeliveryWithItsNumberAndSHA256CanBeAskedFor() throws {
    var record = UploadRecord.sample(identity(size: 3))
    record.unfinished?.assetID = 9
    #expect(StoredRecording(record) == nil)
    record.state = .delivered(RecordedDelivery(of: record))
    record.delivery?.sha256 = GigHive.sha256
    #expect(
      StoredRecording(record)
        == StoredRecording(base: try TargetURI("https://hive/"), assetID: 9, sha256: GigHive.sha256, size: 3))
    for change: (inout UploadRecord) -> Void in [
      { $0.delivery?.assetID = nil }, { $0.delivery?.sha256 = nil }, { $0.destination.endpoint = "hive" },
    ] {
      var incomplete = record
      change(&incomplete)
      #expect(StoredRecording(incomplete) == nil)
    }
  }
}
