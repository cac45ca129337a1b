import Foundation
import Glibc
import Testing

@testable import Uploader

/// What a power cut leaves is made by hand here. The simulation makes all of it.
struct SpareNamesTests {
  let bench = StateBench()

  /// Begins the upload of a form, as a process does.
  private func begin(
    _ name: String = "photo.jpg", size: Int = 1000, _ configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> LockedRecord {
    bench.place(name, recording(size))
    let file = try SourceFile.open(LocalPath(bench.directory.path(of: name)), limit: .max)
    var request = UploadRequest(file: file.path, destination: .multipart(try TargetURI("https://nas/form")))
    configure(&request)
    let directory = try bench.open()
    return try #require(try LockedRecord.open(for: file, try file.identity(), of: request, in: directory).locked())
  }

  private func announceLastByte(_ kept: LockedRecord) throws {
    try kept.updateUpload { $0.apply(.mayBeStored, size: 1000) }
  }

  private func deliver(_ kept: LockedRecord) throws {
    try kept.update { $0.state = .delivered(RecordedDelivery(of: $0)) }
  }

  private func spares() -> [String] { bench.names.filter { $0.hasSuffix(".spare") }.map { String($0.prefix(8)) } }

  private func rename(_ from: String, _ to: String) {
    #expect(Glibc.rename(bench.path + "/" + from, bench.path + "/" + to) == 0)
  }

  /// The machine is started again.
  private func start() throws -> StateDirectory {
    bench.put([UInt8](repeating: 1, count: 8), at: "spares")
    return try bench.open()
  }

  @Test func eachSmallFormTakesOneOfTheSparesThatAreThere() throws {
    let first = try begin().record.id
    let ids = spares()
    #expect(ids.count == Limits.spareCount - 1 && !ids.contains(first))
    let second = try begin("second.jpg").record.id
    #expect(ids.contains(second) && spares() == ids.filter { $0 != second })
  }

  @Test func itsFilesBecomeTheRecordAndTheDelivery() throws {
    let kept = try begin()
    let id = kept.record.id
    let inodes = [".spare", ".room"].map { bench.inode(of: id + $0) }
    // Another process can resume it.
    #expect(try bench.open().records(.open) == [kept.record])
    try announceLastByte(kept)
    #expect(bench.inode(of: id + ".record") == inodes[0] && !bench.names.contains(id + ".spare"))
    try deliver(kept)
    #expect(bench.inode(of: id + ".delivered") == inodes[1])
    #expect(bench.names.filter { $0.hasPrefix(id) } == [id + ".delivered", id + ".lock"])
  }

  @Test func moreAreMadeWhenAllAreTaken() throws {
    for number in 1...Limits.spareCount { _ = try begin("\(number).jpg") }
    #expect(spares().isEmpty && bench.content(of: "spares")?.count == 8)
    _ = try begin("last.jpg")
    #expect(spares().count == Limits.spareCount - 1)
  }

  @Test func allAreMadeOrNone() throws {
    let directory = try bench.open()
    #expect(mkdir(bench.path + "/5e1f0a77.room", 0o700) == 0)
    #expect(!directory.makeSpares(for: "5e1f0a77") && spares().isEmpty && directory.takeSpare() == nil)
  }

  @Test func whatTakesLongOrIsRemovedAfterwardsTakesNone() throws {
    _ = try begin()
    let ids = spares()
    _ = try begin("long.mp4", size: Int(Limits.smallFormLength) + 1)
    _ = try begin("removed.jpg") { $0.afterDelivery.removal = .delete }
    #expect(spares() == ids)
  }

  @Test func aDeferredRecordGetsToTheDiskBeforeAnythingWaits() throws {
    let kept = try begin()
    let inode = bench.inode(of: kept.record.id + ".spare")
    try kept.sync()
    #expect(bench.inode(of: kept.record.id + ".record") == inode)
    try kept.sync()
    #expect(bench.inode(of: kept.record.id + ".record") == inode)
  }

  // MARK: After a power cut

  @Test func aRecordUnderTheNameOfItsSpareReplacesWhatCameBefore() throws {
    let record: UploadRecord
    do {
      let kept = try begin()
      try announceLastByte(kept)
      record = kept.record
    }
    rename(record.id + ".record", record.id + ".spare")
    bench.put(Array("torn".utf8), at: record.id + ".record")
    // As long as the machine runs, no name is lost.
    #expect(spares().contains(record.id))
    #expect(try start().record(record.id) == record && !spares().contains(record.id))
    #expect(bench.warnings.isEmpty)
  }

  /// Only the removal of the former record is on the disk.
  @Test func aDeliveryUnderTheNameOfItsRoomIsOne() throws {
    let record: UploadRecord
    do {
      let kept = try begin()
      try announceLastByte(kept)
      try deliver(kept)
      record = kept.record
    }
    rename(record.id + ".delivered", record.id + ".room")
    #expect(try start().records(.all) == [record])
    #expect(bench.names.contains(record.id + ".delivered") && !bench.names.contains(record.id + ".room"))
  }

  @Test func sparesOfAnEarlierStartAreNotTaken() throws {
    _ = try begin()
    let ids = spares()
    _ = try start()
    let taken = try begin("other.jpg").record.id
    #expect(!ids.contains(taken))
  }

  @Test func sparesGoWithOtherLeftovers() throws {
    _ = try begin()
    unlink(bench.path + "/index")
    _ = try begin("long.mp4", size: Int(Limits.smallFormLength) + 1)
    // A form that has taken one before may still need the list, after a power cut.
    #expect(spares().isEmpty && bench.content(of: "spares") == [])
  }
}
