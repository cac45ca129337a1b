import Testing
import UploadCore

/// What follows from the outcome of a form, beside the conversations in `Transcripts/form`.
struct FormTests {
  /// Before a file is removed because of its delivery.
  @Test func aResponseWithoutProofIsNotTrusted() throws {
    var after = AfterDelivery()
    after.trustsServer = true
    var record = UploadRecord.sample(identity(size: 3))
    record.state = .delivered(RecordedDelivery(of: record))
    #expect(try after.requirement(for: record, isForGigHive: false) == nil)
    record.delivery?.isUnprovedPage = true
    #expect(throws: KeptReason.unprovedPage) { try after.requirement(for: record, isForGigHive: false) }
    #expect(!KeptReason.unprovedPage.isTemporary)
  }

  /// RFC 8446, 6.2.
  @Test func someAlertsAreRefusals() {
    let refusals = (0...255).filter { TLSError.isRefusal(alert: $0) }
    #expect(refusals == [40, 42, 43, 44, 45, 46, 48, 49, 51, 70, 71, 112, 116])
  }
}
