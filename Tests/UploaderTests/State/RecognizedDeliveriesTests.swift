import CShims
import Glibc
import Testing

@testable import Uploader

/// What was delivered is recognized by the index, without a lock.
struct RecognizedDeliveriesTests {
  private let bench = StateBench()
  private let endpoint = "https://hive/"

  private func request(_ name: String) throws -> UploadRequest {
    UploadRequest(
      file: LocalPath(bench.directory.path(of: name)), destination: .tus(try TargetURI(endpoint)))
  }

  private func sighting(_ name: String) -> FileSighting { FileSighting(fileStatus(name)) }

  private func fileStatus(_ name: String) -> shim_file_status {
    var status = shim_file_status()
    guard shim_stat(bench.directory.path(of: name), &status) == 0 else { fatalError("stat failed") }
    return status
  }

  /// Delivers the file, and returns the record. Its status time counts as old enough.
  private func deliverSettled(_ name: String) throws -> UploadRecord {
    bench.place(name)
    let kept = try bench.openRecord(name)
    try kept.noteDelivery(asset: 7, StatusTime(fileStatus(name)))
    return kept.record
  }

  @Test func anUntouchedDeliveryIsRecognizedWithoutItsRecord() throws {
    let delivered = try deliverSettled("a.wav")
    bench.put([], at: delivered.id + ".delivered")
    let directory = try bench.open()
    let found = directory.untouchedDelivery(of: try request("a.wav"), sighting("a.wav"))
    #expect(
      found == PreviousDelivery(delivered) && found?.assetID == 7
        && found?.deliveredAt == delivered.delivery?.deliveredAt)
    #expect(bench.warnings.isEmpty)
  }

  @Test func aTouchedRemovedOrForeignDeliveryIsNotRecognizedWithoutItsRecord() throws {
    let delivered = try deliverSettled("a.wav")
    let directory = try bench.open()
    var elsewhere = try request("a.wav")
    elsewhere.destination = .tus(try TargetURI("https://other/"))
    #expect(directory.untouchedDelivery(of: elsewhere, sighting("a.wav")) == nil)
    chmod(bench.directory.path(of: "a.wav"), 0o600)
    chmod(bench.directory.path(of: "a.wav"), 0o644)
    #expect(directory.untouchedDelivery(of: try request("a.wav"), sighting("a.wav")) == nil)
    let again = try deliverSettled("b.wav")
    unlink(bench.path + "/" + again.id + ".delivered")
    #expect(directory.untouchedDelivery(of: try request("b.wav"), sighting("b.wav")) == nil)
    #expect(bench.names.contains(delivered.id + ".delivered"))
  }

  /// Another process has rebuilt it with another capacity.
  @Test func anIndexThatWasRebuiltIsReadAgain() throws {
    let directory = try bench.open()
    _ = try deliverSettled("a.wav")
    #expect(directory.untouchedDelivery(of: try request("a.wav"), sighting("a.wav")) != nil)
    unlink(bench.path + "/index")
    _ = try deliverSettled("b.wav")
    #expect(directory.untouchedDelivery(of: try request("b.wav"), sighting("b.wav")) == nil)
    #expect(directory.untouchedDelivery(of: try request("b.wav"), sighting("b.wav")) != nil)
  }

  @Test func withoutStableInodesAFileIsRecognizedByItsPathAndContent() throws {
    let directory = try bench.open()
    func identity(_ name: String, later seconds: Int64 = 0) throws -> FileIdentity {
      let file = try SourceFile.open(LocalPath(bench.directory.path(of: name)), limit: .max)
      let found = try file.identity(on: .fat)
      return FileIdentity(
        device: found.device, inode: found.inode, hasLocalTimes: true, size: found.size,
        modifiedSeconds: found.modifiedSeconds + seconds, modifiedNanoseconds: 0, edges: found.edges)
    }
    bench.place("a.wav")
    let file = try SourceFile.open(LocalPath(bench.directory.path(of: "a.wav")), limit: .max)
    let kept = try #require(
      try LockedRecord.open(for: file, try identity("a.wav"), of: try request("a.wav"), in: directory).locked())
    #expect(kept.record.file.identity.inode == 0)
    try kept.noteDelivery()
    for seconds: Int64 in [0, 2, -2, 3600] {
      #expect(directory.untouchedDelivery(of: try request("a.wav"), try identity("a.wav", later: seconds)) != nil)
    }
    #expect(directory.untouchedDelivery(of: try request("a.wav"), try identity("a.wav", later: 30)) == nil)
    // A recorder that writes over its file at the same time every week, or whose clock goes back.
    for days: Int64 in [7, 2, -2] {
      #expect(directory.untouchedDelivery(of: try request("a.wav"), try identity("a.wav", later: days * 86_400)) == nil)
    }
    bench.place("b.wav")
    #expect(directory.untouchedDelivery(of: try request("b.wav"), try identity("b.wav")) == nil)
    // The longer way comes to the same.
    #expect(throws: DeliveredBefore(PreviousDelivery(kept.record))) {
      try LockedRecord.open(for: file, try identity("a.wav", later: 7201), of: try request("a.wav"), in: directory)
        .locked()
    }
  }
}
