import Foundation
import Glibc
import Testing

@testable import Uploader

struct KeptRecordTests {
  private let bench = StateBench()
  private let endpoint = "https://hive/"
  private let content = recording(200_000)

  private func file(_ name: String = "set.wav") throws -> SourceFile {
    try SourceFile(path: FilePath(bench.directory.path(of: name)), limit: .max)
  }

  private func identity(of file: SourceFile) throws -> FileIdentity {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
    defer { space.deallocate() }
    return try file.identity(using: space)
  }

  /// Opens the record of an upload as a process does at its beginning.
  private func open(
    _ name: String = "set.wav", endpoint: String? = nil, upload: String? = nil, uploadedAs: String = "",
    note: String = ""
  ) throws -> KeptRecord {
    let file = try file(name)
    return try KeptRecord.open(
      for: file, try identity(of: file), endpoint: endpoint ?? self.endpoint, note: note, upload: upload,
      uploadedAs: uploadedAs, in: try bench.open())
  }

  /// Leaves a record of an interrupted upload of the file, as a process does that has ended.
  @discardableResult
  private func leave(_ change: (inout UploadRecord) -> Void = { _ in }) throws -> UploadRecord {
    _ = bench.directory.file("set.wav", content)
    let kept = try open(note: "first")
    try kept.update {
      $0.uploadURL = "https://hive/files/1"
      $0.offset = 1000
      change(&$0)
    }
    return kept.record
  }

  // MARK: New ones

  @Test func anUploadHasARecordOnTheDisk() throws {
    _ = bench.directory.file("set.wav", content)
    let kept = try open(uploadedAs: "audio/wav set.wav", note: "mine")
    let record = try #require(try bench.open().records(.all).first)
    #expect(record == kept.record && UploadRecord.isID(record.id))
    #expect(record.phase == .pending && record.note == "mine" && record.endpoint == endpoint)
    #expect(record.uploadedAs == "audio/wav set.wav" && record.uploadURL == nil && record.offset == 0)
    #expect(record.path == Array(bench.directory.path(of: "set.wav").utf8))
    #expect(record.identity.size == 200_000)
    #expect(record.createdAt > 1_700_000_000 && record.updatedAt >= record.createdAt)
  }

  @Test func otherUploadsHaveOtherRecords() throws {
    let first = try leave()
    #expect(try open(endpoint: "https://other/").record.id != first.id)
    _ = bench.directory.file("other.wav", recording(100))
    #expect(try open("other.wav").record.id != first.id)
    // A copy has the same bytes, and is another file.
    _ = bench.directory.file("copy.wav", content)
    #expect(try open("copy.wav").record.id != first.id)
  }

  // MARK: Finding

  @Test func anInterruptedUploadIsFoundByItsPath() throws {
    let former = try leave { $0.message = "the connection was lost" }
    let kept = try open(note: "second")
    #expect(kept.record.id == former.id && kept.record.uploadURL == former.uploadURL && kept.record.offset == 1000)
    #expect(kept.record.note == "second" && kept.record.message == nil && kept.record.createdAt == former.createdAt)
  }

  @Test func anInterruptedUploadIsFoundUnderAnotherName() throws {
    let former = try leave()
    rename(bench.directory.path(of: "set.wav"), bench.directory.path(of: "renamed.wav"))
    let kept = try open("renamed.wav")
    #expect(kept.record.id == former.id && kept.record.uploadURL == former.uploadURL)
    #expect(kept.record.path == Array(bench.directory.path(of: "renamed.wav").utf8))
  }

  @Test func anUploadThatFailedIsGoneOnWith() throws {
    let former = try leave { $0.phase = .failed }
    #expect(try open().record.phase == .pending)
    #expect(try bench.open().records(.all).map { $0.id } == [former.id])
  }

  @Test func anUploadThatIsWholeOnTheServerStaysSo() throws {
    try leave { $0.phase = .uploaded }
    #expect(try open().record.phase == .uploaded)
  }

  @Test func anUploadIsFoundByItsID() throws {
    let former = try leave()
    // Moved to another disk, as far as one can tell: another path and another inode.
    _ = bench.directory.file("moved.wav", content)
    let time = [
      timespec(tv_sec: Int(former.identity.modifiedSeconds), tv_nsec: Int(former.identity.modifiedNanoseconds))
    ]
    utimensat(AT_FDCWD, bench.directory.path(of: "moved.wav"), time + time, 0)
    #expect(try open("moved.wav").record.id != former.id)
    #expect(try open("moved.wav", upload: former.id).record.id == former.id)
  }

  // MARK: Changes

  @Test func aFileThatHasGrownIsNotTheOneThatWasBegunWith() throws {
    let former = try leave()
    bench.directory.append(bytes("more"), to: "set.wav")
    let path = FilePath(bench.directory.path(of: "set.wav"))
    #expect(throws: UploadError.changed(path, .size(from: 200_000, to: 200_004), upload: former.id)) { try open() }
    // The record stays as it was.
    #expect(try bench.open().records(.all) == [former])
  }

  @Test func otherContentIsNoticed() throws {
    let former = try leave()
    bench.directory.overwrite([content[199_999] ^ 1], in: "set.wav", at: 199_999)
    let path = FilePath(bench.directory.path(of: "set.wav"))
    #expect(throws: UploadError.changed(path, .content, upload: former.id)) { try open() }
  }

  /// In the middle, where the edges do not tell it.
  @Test func aChangeInTheMiddleIsNoticedByItsTime() throws {
    let former = try leave()
    bench.directory.overwrite([content[100_000] ^ 1], in: "set.wav", at: 100_000)
    let path = FilePath(bench.directory.path(of: "set.wav"))
    #expect(throws: UploadError.changed(path, .modificationTime, upload: former.id)) { try open() }
  }

  @Test func aChangeBeforeAnythingWasSentDoesNotMatter() throws {
    let former = try leave {
      $0.uploadURL = nil
      $0.offset = 0
    }
    bench.directory.append(bytes("more"), to: "set.wav")
    let kept = try open()
    #expect(kept.record.id == former.id && kept.record.identity.size == 200_004)
  }

  /// A record whose offset is behind the file's end could not be read again.
  @Test func aShorterFileLeavesARecordThatCanBeRead() throws {
    let former = try leave {
      $0.uploadURL = nil
      $0.offset = 150_000
    }
    _ = bench.directory.file("set.wav", recording(100))
    #expect(try open().record.id == former.id)
    #expect(try bench.open().records(.all).map { $0.id } == [former.id] && bench.warnings.isEmpty)
  }

  @Test func aServerThatWasToldAnotherNameGetsANewUpload() throws {
    let former = try leave { $0.uploadedAs = "audio/wav a.wav" }
    let kept = try open(uploadedAs: "audio/wav b.wav")
    #expect(kept.record.id == former.id && kept.record.uploadURL == nil && kept.record.offset == 0)
    #expect(kept.record.uploadedAs == "audio/wav b.wav")
  }

  // MARK: Delivered

  @Test func aDeliveredUploadIsNotGoneOnWith() throws {
    let former = try leave {
      $0.phase = .delivered
      $0.deleteToken = "5ec2e7"
    }
    let kept = try open()
    #expect(kept.record.id != former.id && kept.record.uploadURL == nil && kept.record.phase == .pending)
    let records = try bench.open().records(.all)
    #expect(records.count == 2 && records.contains { $0.id == former.id && $0.deleteToken == "5ec2e7" })
  }

  @Test func aDeliveredUploadThatIsAskedForByItsIDIsAnError() throws {
    let former = try leave { $0.phase = .delivered }
    #expect(throws: UploadError.delivered(upload: former.id)) { try open(upload: former.id) }
    #expect(Set(bench.names) == ["directory.lock", former.id + ".delivered"])
  }

  /// A power cut between the two steps of a delivery.
  @Test func whatAPowerCutLeftOfADeliveryIsNotGoneOnWith() throws {
    let former = try leave()
    let pending = try #require(bench.content(of: former.id + ".record"))
    var delivered = former
    delivered.phase = .delivered
    try bench.open().write(delivered)
    bench.put(pending, at: former.id + ".record")
    #expect(try open().record.id != former.id)
    #expect(!bench.names.contains(former.id + ".record") && bench.names.contains(former.id + ".delivered"))
  }

  /// As when it was cancelled in another process after all records were listed.
  @Test func anUploadWhoseRecordIsGoneIsNotTakenForDelivered() throws {
    let former = try leave()
    try bench.open().remove(former.id)
    #expect(throws: UploadError.state(.noSuchRecord(former.id))) { try open(upload: former.id) }
    #expect(try bench.open().records(.all).isEmpty && bench.names.allSatisfy { !$0.hasPrefix(former.id) })
  }

  @Test func whatWasUploadedIsStillUploadedAfterAFailure() throws {
    let former = try leave {
      $0.phase = .failed
      $0.wasUploaded = true
    }
    let again = try open(upload: former.id).record
    #expect(again.phase == .uploaded && !again.wasUploaded)
  }

  // MARK: Two at once

  @Test func anUploadThatIsUnderWayIsAConflict() throws {
    _ = bench.directory.file("set.wav", content)
    let kept = try open()
    #expect(throws: UploadError.conflict(upload: kept.record.id)) { try open() }
    #expect(throws: UploadError.conflict(upload: kept.record.id)) { try open(upload: kept.record.id) }
    withExtendedLifetime(kept) {}
  }

  @Test func anUploadThatHasEndedCanBeOpenedAgain() throws {
    let former = try leave()
    #expect(try open().record.id == former.id)
    #expect(try open().record.id == former.id)
  }

  /// Each finds the other's record, or makes one: never two of the same upload.
  @Test func manyThatBeginAtOnceMakeOneRecord() throws {
    _ = bench.directory.file("set.wav", content)
    nonisolated(unsafe) let tests = self
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      let kept = try? tests.open()
      usleep(200_000)
      withExtendedLifetime(kept) {}
    }
    #expect(try bench.open().records(.all).count == 1)
  }
}
