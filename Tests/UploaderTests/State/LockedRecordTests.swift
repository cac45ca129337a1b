import Foundation
import Glibc
import Testing

@testable import Uploader

struct LockedRecordTests {
  let bench = StateBench()
  let endpoint = "https://hive/"
  let content = recording(200_000)

  private func file(_ name: String = "set.wav") throws -> SourceFile {
    try SourceFile.open(LocalPath(bench.directory.path(of: name)), limit: .max)
  }

  /// Opens the record of an upload, as a process does at its start.
  func open(
    _ name: String = "set.wav", requiredID: String? = nil, to destination: Destination? = nil,
    _ configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> LockedRecord {
    try #require(try openNow(name, requiredID: requiredID, to: destination, configure))
  }

  /// - Returns: nil if the directory is locked.
  func openNow(
    _ name: String = "set.wav", requiredID: String? = nil, to destination: Destination? = nil,
    _ configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> LockedRecord? {
    let file = try file(name)
    var request = UploadRequest(file: file.path, destination: try destination ?? .tus(TargetURI(endpoint)))
    request.upload = requiredID
    configure(&request)
    return try LockedRecord.open(for: file, try file.identity(), of: request, in: try bench.open()).locked()
  }

  /// GigHive, with this date of the event.
  func gigHive(_ eventDate: String) throws -> Destination {
    var form = EventForm()
    form.eventDate = eventDate
    return .gigHive(try TargetURI(endpoint), form)
  }

  /// Leaves a record of an interrupted upload of the file, as a process does that has ended.
  @discardableResult
  func leave(_ change: (inout UploadRecord) -> Void = { _ in }) throws -> UploadRecord {
    _ = bench.directory.file("set.wav", content)
    let kept = try open { $0.note = "first" }
    try kept.update {
      $0.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", offset: 1000)
      change(&$0)
    }
    return kept.record
  }

  // MARK: New ones

  @Test func anUploadHasARecordOnTheDisk() throws {
    _ = bench.directory.file("set.wav", content)
    let kept = try open {
      $0.mediaType = "audio/wav"
      $0.fileName = "b.wav"
      $0.note = "mine"
    }
    let record = try #require(try bench.open().records(.all).first)
    #expect(record == kept.record && UploadRecord.isID(record.id))
    #expect(record.phase == .pending && record.note == "mine" && record.destination.endpoint == endpoint)
    #expect(record.destination.uploadedAs == "audio/wav b.wav" && record.remote == nil && record.offset == 0)
    #expect(record.file.path == LocalPath(bench.directory.path(of: "set.wav")))
    #expect(record.file.identity.size == 200_000)
    #expect(record.createdAt > 1_700_000_000 && record.updatedAt >= record.createdAt)
  }

  @Test func otherUploadsHaveOtherRecords() throws {
    let first = try leave()
    #expect(try open(to: .tus(TargetURI("https://other/"))).record.id != first.id)
    _ = bench.directory.file("other.wav", recording(100))
    #expect(try open("other.wav").record.id != first.id)
    // A copy has the same bytes, and is another file.
    _ = bench.directory.file("copy.wav", content)
    #expect(try open("copy.wav").record.id != first.id)
  }

  // MARK: Finding

  @Test func anInterruptedUploadIsFoundByItsPath() throws {
    let previous = try leave { $0.unfinished?.message = "the connection was lost" }
    let kept = try open { $0.note = "second" }
    #expect(kept.record.id == previous.id && kept.record.remote == previous.remote && kept.record.offset == 1000)
    #expect(
      kept.record.note == "second" && kept.record.unfinished?.message == nil
        && kept.record.createdAt == previous.createdAt)
  }

  /// A failed one is retried. One that is complete on the server stays so, even after a failure.
  @Test(
    arguments: [
      (.pending, false, .pending), (.failed, false, .pending), (.uploaded, false, .uploaded),
      (.failed, true, .uploaded),
    ]
      as [(UploadRecord.Phase, Bool, UploadRecord.Phase)])
  func thePhaseOfAFoundUpload(before: UploadRecord.Phase, wasUploaded: Bool, found: UploadRecord.Phase) throws {
    let previous = try leave {
      $0.unfinished?.remote?.isWhole = before == .uploaded || wasUploaded
      if before == .failed { $0.unfinished?.failure = .notDelivered }
    }
    #expect(previous.phase == before)
    let again = try open().record
    #expect(again.id == previous.id && again.phase == found)
    #expect(try bench.open().records(.all).map { $0.id } == [previous.id])
  }

  @Test func anUploadIsFoundByItsID() throws {
    let previous = try leave()
    // Apparently moved to another disk: another path and another inode.
    _ = bench.directory.file("moved.wav", content)
    let time = [
      timespec(
        tv_sec: Int(previous.file.identity.modifiedSeconds), tv_nsec: Int(previous.file.identity.modifiedNanoseconds))
    ]
    utimensat(AT_FDCWD, bench.directory.path(of: "moved.wav"), time + time, 0)
    #expect(try open("moved.wav").record.id != previous.id)
    #expect(try open("moved.wav", requiredID: previous.id).record.id == previous.id)
  }

  // MARK: Changes

  /// At the end, at the edges, and in the middle, where only the time shows it.
  @Test(
    arguments: [(200_000, .size(from: 200_000, to: 200_001)), (199_999, .content), (100_000, .modificationTime)]
      as [(Int, FileChange)])
  func aChangedFileIsNotTheOneThatTheUploadStartedWith(offset: Int, change: FileChange) throws {
    let previous = try leave()
    bench.directory.overwrite([offset < 200_000 ? content[offset] ^ 1 : 0], in: "set.wav", at: offset)
    let path = LocalPath(bench.directory.path(of: "set.wav"))
    #expect(throws: UploadError.changed(path, change, upload: previous.id)) { try open(requiredID: previous.id) }
    // The record stays as it was.
    #expect(try bench.open().records(.all) == [previous])
    // A new upload supersedes it.
    let kept = try open()
    #expect(kept.record.id == previous.id && kept.record.remote == nil && kept.record.offset == 0)
    #expect(kept.record.file.identity != previous.file.identity)
    #expect(bench.warnings.count == 1 && bench.warnings[0].contains("has changed since its upload started"))
  }

  /// It may be the only good copy: a camera uses its names again, and a power cut can damage a file without changing its size.
  @Test(arguments: ["uploaded", "failed when it was whole", "begun"])
  func anUploadThatTheServerMayHaveCompletelyIsNotDeletedThere(state: String) throws {
    let isDeleted = state == "begun"
    let previous = try leave {
      switch state {
      case "begun": break
      case "uploaded": $0.unfinished?.remote?.isWhole = true
      default:
        $0.unfinished?.remote?.isWhole = true
        $0.unfinished?.failure = .notDelivered
      }
    }
    _ = bench.directory.file("set.wav", content + [1])
    let kept = try open()
    #expect(kept.record.id == previous.id && kept.record.remote == nil)
    #expect(kept.superseded == (isDeleted ? previous.remote?.url : nil))
    #expect(bench.warnings.first?.contains("may have the whole old upload") == !isDeleted)
  }

  /// Nothing of a form is on the server.
  @Test(arguments: [200_004, 100])
  func aChangedFormIsAnotherRecording(length: Int) throws {
    let previous = try leave { $0.unfinished?.remote = nil }
    let path = bench.directory.file("set.wav", recording(length))
    let change = FileChange.size(from: 200_000, to: Int64(length))
    #expect(throws: UploadError.changed(path, change, upload: previous.id)) { try open(requiredID: previous.id) }
    let kept = try open()
    #expect(kept.record.id == previous.id && kept.record.file.identity.size == length)
    #expect(try bench.open().records(.all).map { $0.id } == [previous.id])
    #expect(bench.warnings.count == 1 && bench.warnings[0].hasSuffix("It is sent again from the start."))
  }

  /// What is sent while it is made has grown when it has ended. What was begun as a whole starts over.
  @Test(arguments: [false, true])
  func aRecordingThatIsMadeMayHaveChanged(hasBegun: Bool) throws {
    let previous = try leave { if !hasBegun { $0.unfinished?.remote = nil } }
    _ = bench.directory.file("set.wav", content + [1])
    let kept = try open(requiredID: previous.id) { $0.live = LiveSending(settleMilliseconds: 1000) }
    #expect(kept.record.id == previous.id && kept.record.remote == nil && kept.record.file.identity.size == 200_001)
    #expect(kept.superseded == (hasBegun ? previous.remote?.url : nil) && bench.warnings.count == (hasBegun ? 1 : 0))
  }

  /// What had to be changed may have been the file.
  @Test func afterAFailureTheFileOfAFormMayHaveChanged() throws {
    let previous = try leave {
      $0.unfinished?.remote = nil
      $0.unfinished?.failure = .notDelivered
    }
    _ = bench.directory.file("set.wav", recording(100))
    #expect(try open(requiredID: previous.id).record.file.identity.size == 100)
    #expect(bench.warnings.isEmpty)
  }

  @Test func aServerThatWasGivenAnotherNameGetsANewUpload() throws {
    let previous = try leave { $0.destination.uploadedAs = "audio/wav a.wav" }
    let kept = try open {
      $0.mediaType = "audio/wav"
      $0.fileName = "b.wav"
    }
    #expect(kept.record.id == previous.id && kept.record.remote == nil && kept.record.offset == 0)
    #expect(kept.record.destination.uploadedAs == "audio/wav b.wav")
  }

  // MARK: Concurrency

  @Test func anUploadThatAnotherProcessRunsIsAConflict() throws {
    _ = bench.directory.file("set.wav", content)
    let kept = try open()
    #expect(throws: UploadError.conflict(upload: kept.record.id)) { try open() }
    #expect(throws: UploadError.conflict(upload: kept.record.id)) { try open(requiredID: kept.record.id) }
    withExtendedLifetime(kept) {}
  }

  /// Each finds the other's record or creates one: never two of the same upload.
  @Test func manyThatBeginAtOnceMakeOneRecord() throws {
    _ = bench.directory.file("set.wav", content)
    nonisolated(unsafe) let tests = self
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      var kept: LockedRecord?
      // Like a job, retry if the directory is locked.
      for _ in 0..<1000 {
        do {
          kept = try tests.openNow()
          if kept != nil { break }
          usleep(1000)
        } catch { break }
      }
      usleep(200_000)
      withExtendedLifetime(kept) {}
    }
    #expect(try bench.open().records(.all).count == 1)
  }

  @Test func whileAnotherProcessLooksForARecordNoneIsOpened() throws {
    let previous = try leave()
    let directory = try bench.open()
    let holder = try directory.lockForCreation()
    #expect(try openNow() == nil)
    withExtendedLifetime(holder) {}
    // Nothing has changed in the meantime.
    #expect(try directory.records(.all) == [previous])
  }

  // MARK: Writing

  /// Each write is synced, which is slow on flash.
  @Test func anUpdateThatChangesNothingWritesNothing() throws {
    _ = bench.directory.file("set.wav", content)
    let kept = try open()
    let name = bench.path + "/" + kept.record.id + ".record"
    func inode() -> ino_t {
      var status = stat()
      return stat(name, &status) == 0 ? status.st_ino : 0
    }
    let before = kept.record
    // A new file would get another inode, as long as this one is open.
    let descriptor = Glibc.open(name, O_RDONLY)
    defer { close(descriptor) }
    let first = inode()
    try kept.update { $0.note = "" }
    try kept.update { _ in }
    #expect(first != 0 && inode() == first && kept.record == before)
    try kept.update { $0.note = "another" }
    #expect(inode() != first && kept.record.note == "another")
  }

  @Test func anIDIsNotUsedTwice() throws {
    let previous = try leave { $0.state = .delivered(RecordedDelivery()) }
    let directory = try bench.open()
    var draws = [previous.id, "aaaaaaaa"][...]
    #expect(try LockedRecord.freeID(in: directory) { draws.removeFirst() } == "aaaaaaaa")
    _ = bench.directory.file("other.wav", content)
    let other = try open("other.wav").record.id
    draws = [other, "bbbbbbbb"]
    #expect(try LockedRecord.freeID(in: directory) { draws.removeFirst() } == "bbbbbbbb")
  }

  // MARK: Removal

  @Test func aRecordThatIsTakenIsLockedAndAsItIsNow() throws {
    let previous = try leave()
    let taken = try #require(try LockedRecord.reopen(previous.id, in: bench.open()))
    #expect(taken.record == previous)
    #expect(try LockedRecord.reopen(previous.id, in: bench.open()) == nil)
    #expect(throws: UploadError.conflict(upload: previous.id)) { try open() }
    try taken.remove()
    #expect(try bench.open().records(.all).isEmpty && bench.names.allSatisfy { !$0.hasPrefix(previous.id) })
  }

  @Test func aRecordThatIsNotThereCannotBeTaken() throws {
    #expect(throws: StateError.noSuchRecord("5e1f0a77")) { try LockedRecord.reopen("5e1f0a77", in: bench.open()) }
    #expect(bench.names.isEmpty)
  }

  /// Another process that wants to delete it too must not get in between.
  @Test func aProcessThatDeletesADeliveredRecordKeepsItsLock() throws {
    let previous = try leave {
      $0.state = .delivered(RecordedDelivery())
      $0.delivery?.deleteToken = "5ec2e7"
    }
    let taken = try #require(try LockedRecord.reopen(previous.id, in: bench.open()))
    for deletion: RecordedDelivery.Deletion? in [.requested, nil, .done] {
      try taken.update { $0.delivery?.deletion = deletion }
      #expect(try LockedRecord.reopen(previous.id, in: bench.open()) == nil)
      #expect(try bench.open().lock(previous.id) == nil)
      #expect(try bench.open().current(previous.id)?.delivery?.deletion == deletion)
    }
    try taken.remove()
    withExtendedLifetime(taken) {}
    #expect(throws: StateError.noSuchRecord(previous.id)) { try LockedRecord.reopen(previous.id, in: bench.open()) }
    #expect(bench.names.allSatisfy { !$0.hasPrefix(previous.id) })
  }
}
