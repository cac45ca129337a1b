import CShims
import Foundation
import Glibc
import Testing

@testable import Uploader

struct StateDirectoryTests {
  private let bench = StateBench()

  // MARK: Creation

  @Test func theDirectoryAndAllAboveItAreMadeForTheUserAlone() throws {
    let deep = bench.path + "/a/b"
    _ = try StateDirectory(LocalPath(deep), warn: { _ in })
    #expect(bench.mode() == 0o700 && bench.mode(of: "a") == 0o700 && bench.mode(of: "a/b") == 0o700)
    // A second time is no error.
    _ = try StateDirectory(LocalPath(deep + "/"), warn: { _ in })
  }

  @Test func aPathThroughAFileIsUnusable() throws {
    _ = bench.directory.file("file", bytes("x"))
    let path = LocalPath(bench.directory.path(of: "file/state"))
    #expect(throws: StateError.unusable(path, SystemError(code: ENOTDIR))) {
      try StateDirectory(path, warn: { _ in })
    }
  }

  @Test func aPathThatNoFileCanHaveIsUnusable() {
    #expect(throws: StateError.self) { try StateDirectory("/tmp/a\0b", warn: { _ in }) }
  }

  // MARK: Writing and reading

  @Test func aRecordComesBack() throws {
    var sample = record("5e1f0a77", createdAt: 7)
    sample.file.path = LocalPath(bytes: bytes("/srv/") + [0xFF, 0x0A])
    sample.unfinished?.remote = RemoteUpload(url: "https://hive/files/1")
    try bench.open().write(sample)
    #expect(try bench.open().records(.all) == [sample] && bench.warnings.isEmpty)
    #expect(try bench.open().current("5e1f0a77") == sample)
  }

  @Test func aRecordIsForTheUserAloneWhateverTheUmask() throws {
    let before = umask(0)
    defer { umask(before) }
    let directory = try bench.open()
    try directory.write(record("5e1f0a77"))
    let lock = try directory.lock("5e1f0a77")
    #expect(bench.mode(of: "5e1f0a77.record") == 0o600 && bench.mode(of: "5e1f0a77.lock") == 0o600)
    withExtendedLifetime(lock) {}
  }

  @Test func aLaterRecordReplacesTheFormer() throws {
    let directory = try bench.open()
    var sample = record("5e1f0a77")
    sample.note = String(repeating: "long", count: 100)
    try directory.write(sample)
    sample.note = ""
    try directory.write(sample)
    #expect(try directory.records(.all) == [sample] && bench.names == ["5e1f0a77.record"])
  }

  /// What a power cut in the middle of writing leaves.
  @Test(arguments: ["", "gighive-upload record 2 0000000400", "\0\0\0\0"])
  func aHalfWrittenRecordHidesNeitherTheFormerNorTheNextOne(text: String) throws {
    let directory = try bench.open()
    var sample = record("5e1f0a77")
    try directory.write(sample)
    bench.put(bytes(text), at: "5e1f0a77.new")
    #expect(try directory.records(.all) == [sample] && bench.warnings.isEmpty)
    sample.note = "next"
    try directory.write(sample)
    #expect(try directory.records(.all) == [sample] && bench.names == ["5e1f0a77.record"])
  }

  @Test func recordsComeOldestFirst() throws {
    let directory = try bench.open()
    let samples = [("cccccccc", 3), ("aaaaaaaa", 1), ("dddddddd", 1), ("bbbbbbbb", 2)]
    for (id, createdAt) in samples { try directory.write(record(id, createdAt: Int64(createdAt))) }
    #expect(try directory.records(.all).map { $0.id } == ["aaaaaaaa", "dddddddd", "bbbbbbbb", "cccccccc"])
  }

  @Test func aWalkGoesOnAfterTheRecordThatItStandsAtWasDelivered() throws {
    let directory = try bench.open()
    for (index, id) in ["aaaaaaaa", "bbbbbbbb", "cccccccc"].enumerated() {
      try directory.write(record(id, createdAt: Int64(index)))
    }
    #expect(try directory.openCount() == 3)
    let walk = directory.walk(.open)
    for id in ["aaaaaaaa", "bbbbbbbb", "cccccccc"] {
      var current = try #require(try walk.next())
      #expect(current.id == id)
      current.state = .delivered(RecordedDelivery())
      try directory.write(current)
    }
    #expect(try walk.next() == nil && walk.next() == nil)
    #expect(try directory.openCount() == 0)
  }

  @Test func filesThatAreNoRecordsAreLeftAlone() throws {
    let directory = try bench.open()
    for name in ["notes.txt", "5e1f0a77.lock", "directory.lock", "5e1f0a77.record.damaged", "record"] {
      bench.put(bytes("x"), at: name)
    }
    #expect(try directory.records(.all).isEmpty && bench.warnings.isEmpty && bench.names.count == 5)
  }

  @Test func aRecordThatCouldNotBeReadAgainIsNotWritten() throws {
    let directory = try bench.open()
    var sample = record("5e1f0a77")
    try directory.write(sample)
    let previous = sample
    sample.note = String(repeating: "x", count: Limits.recordLength)
    #expect(throws: StateError.self) { try directory.write(sample) }
    #expect(try directory.records(.all) == [previous] && bench.names == ["5e1f0a77.record"])
  }

  // MARK: Invalid records

  /// One with another bit, another record's, an empty file, and one of any length.
  @Test(arguments: 0..<4)
  func aFileThatIsNotTheRecordIsSetAside(kind: Int) throws {
    let directory = try bench.open()
    try directory.write(record("5e1f0a77"))
    try directory.write(record("aaaaaaaa"))
    var content = try #require(bench.content(of: kind == 1 ? "aaaaaaaa.record" : "5e1f0a77.record"))
    if kind == 0 { content[100] ^= 1 }
    if kind > 1 { content = [UInt8](repeating: 0x61, count: kind == 2 ? 0 : 3 << 20) }
    bench.put(content, at: "5e1f0a77.record")
    #expect(try directory.records(.all).map { $0.id } == ["aaaaaaaa"])
    #expect(bench.names == ["5e1f0a77.record.damaged", "aaaaaaaa.record"])
    #expect(bench.content(of: "5e1f0a77.record.damaged") == content)
    #expect(bench.warnings.count == 1 && bench.warnings[0].contains("5e1f0a77.record is damaged"))
    // It is reported once.
    #expect(try directory.records(.all).count == 1 && bench.warnings.count == 1)
  }

  @Test func anotherVersionsRecordIsLeftAlone() throws {
    let directory = try bench.open()
    bench.put(bytes("gighive-upload record 3 whatever"), at: "5e1f0a77.record")
    #expect(try directory.records(.all).isEmpty)
    #expect(bench.names == ["5e1f0a77.record"] && bench.warnings.count == 1)
    #expect(bench.warnings[0].contains("another version"))
  }

  @Test func aDirectoryOrFIFOInPlaceOfARecordIsLeftAlone() throws {
    let directory = try bench.open()
    mkdir(bench.path + "/aaaaaaaa.record", 0o700)
    mkfifo(bench.path + "/bbbbbbbb.record", 0o600)
    #expect(try directory.records(.all).isEmpty && bench.warnings.count == 2)
    #expect(bench.names == ["aaaaaaaa.record", "bbbbbbbb.record"])
  }

  /// Another user could have put it there to make us overwrite a file.
  @Test func aSymbolicLinkIsNotWrittenThrough() throws {
    let directory = try bench.open()
    _ = bench.directory.file("victim", bytes("precious"))
    symlink(bench.directory.path(of: "victim"), bench.path + "/5e1f0a77.new")
    #expect(throws: StateError.unusable(LocalPath(bench.path + "/5e1f0a77.new"), SystemError(code: ELOOP))) {
      try directory.write(record("5e1f0a77"))
    }
    let victim = try SourceFile.open(LocalPath(bench.directory.path(of: "victim")), limit: .max)
    #expect(victim.size == 8)
  }

  // MARK: Delivered records

  @Test func aDeliveredRecordIsKeptApart() throws {
    let directory = try bench.open()
    try directory.write(record("5e1f0a77"))
    try directory.write(record("aaaaaaaa"))
    try directory.write(record("5e1f0a77", phase: .delivered))
    #expect(bench.names == ["5e1f0a77.delivered", "aaaaaaaa.record"])
    #expect(try directory.records(.open).map { $0.id } == ["aaaaaaaa"])
    #expect(try directory.records(.all).count == 2)
    #expect(try directory.current("5e1f0a77")?.phase == .delivered)
  }

  // MARK: Finding and removing

  @Test func aRecordIsFoundByTheBeginningOfItsID() throws {
    let directory = try bench.open()
    for id in ["5e1f0a77", "5e1faaaa", "aaaaaaaa"] { try directory.write(record(id)) }
    #expect(try directory.record("5e1f0").id == "5e1f0a77" && directory.record("a").id == "aaaaaaaa")
    #expect(try directory.record("5e1f0a77").id == "5e1f0a77")
    #expect(throws: StateError.ambiguousID("5e1f")) { try directory.record("5e1f") }
    #expect(throws: StateError.noSuchRecord("b")) { try directory.record("b") }
    #expect(throws: StateError.noSuchRecord("")) { try directory.record("") }
    #expect(throws: StateError.noSuchRecord("5e1f0a770")) { try directory.record("5e1f0a770") }
  }

  @Test func aRemovedRecordLeavesNothing() throws {
    let directory = try bench.open()
    for (id, phase) in [("5e1f0a77", UploadRecord.Phase.pending), ("aaaaaaaa", .delivered)] {
      try directory.write(record(id, phase: phase))
      let lock = try directory.lock(id)
      try directory.remove(id)
      withExtendedLifetime(lock) {}
    }
    #expect(bench.names.isEmpty)
    // It is gone already.
    try directory.remove("5e1f0a77")
  }

  // MARK: Reserved space

  @Test func theRoomForTheLastWriteIsOnTheDiskUntilItBecomesTheRecord() throws {
    let directory = try bench.open()
    var sample = record("5e1f0a77")
    try directory.write(sample)
    try directory.reserveSpace(for: sample)
    let room = try #require(bench.content(of: "5e1f0a77.room"))
    #expect(room.count >= 8192 + sample.encoded(crc32: { _ in 0 }).count && bench.mode(of: "5e1f0a77.room") == 0o600)
    let inode = bench.inode(of: "5e1f0a77.room")
    sample.state = .delivered(RecordedDelivery())
    sample.delivery?.deleteToken = String(repeating: "\u{1}", count: Limits.serverTextLength)
    #expect(sample.encoded(crc32: { _ in 0 }).count < room.count)
    try directory.write(sample, intoReservedSpace: true)
    #expect(bench.names == ["5e1f0a77.delivered"] && bench.inode(of: "5e1f0a77.delivered") == inode)
    #expect(try bench.open().records(.all) == [sample])
  }

  @Test func aRecordIsWrittenAlsoWhenItsRoomIsGone() throws {
    let directory = try bench.open()
    let sample = record("5e1f0a77", phase: .delivered)
    try directory.write(sample, intoReservedSpace: true)
    #expect(try bench.open().records(.all) == [sample] && bench.names == ["5e1f0a77.delivered"])
  }

  // MARK: Locks

  /// An ordinary open would wait for a reader.
  @Test(arguments: ["directory.lock", "5e1f0a77.lock", "5e1f0a77.new", "5e1f0a77.room"])
  func aFIFOInTheFilesPlaceIsReportedAtOnce(name: String) throws {
    let directory = try bench.open()
    mkfifo(bench.path + "/" + name, 0o600)
    let path = LocalPath(bench.path + "/" + name)
    #expect(throws: StateError.notRegular(path)) {
      switch name {
      case "directory.lock": _ = try directory.lockForCreation()
      case "5e1f0a77.lock": _ = try directory.lock("5e1f0a77")
      case "5e1f0a77.new": try directory.write(record("5e1f0a77"))
      default: try directory.reserveSpace(for: record("5e1f0a77"))
      }
    }
  }

  @Test func aLockIsHeldByOne() throws {
    var lock = try bench.open().lock("5e1f0a77")
    #expect(lock != nil)
    #expect(try bench.open().lock("5e1f0a77") == nil)
    #expect(try bench.open().lock("aaaaaaaa") != nil)
    // As in a child that another thread has just forked.
    let copy = dup(try #require(lock).descriptor)
    defer { close(copy) }
    lock = nil
    #expect(try bench.open().lock("5e1f0a77") != nil)
  }

  /// On FAT, other users can read what is in the directory, whatever its files should be.
  @Test func aLockShowsWhetherOthersCanReadTheRecord() throws {
    let lock = try #require(try bench.open().lock("5e1f0a77"))
    for (mode, isPrivate) in [(0o600, true), (0o640, false), (0o604, false)] as [(mode_t, Bool)] {
      chmod(bench.path + "/5e1f0a77.lock", mode)
      #expect(lock.isPrivate == isPrivate)
    }
  }

  @Test func askingWhetherItIsLockedLeavesNoLock() throws {
    let directory = try bench.open()
    #expect(!directory.isLocked("5e1f0a77") && !bench.names.contains("5e1f0a77.lock"))
    var lock = try bench.open().lock("5e1f0a77")
    #expect(lock != nil && directory.isLocked("5e1f0a77") && !directory.isLocked("aaaaaaaa"))
    lock = nil
    #expect(!directory.isLocked("5e1f0a77"))
    // A process that looks for the upload of a file is about to lock one: it is not disturbed.
    let creation = try bench.open().lockForCreation()
    #expect(creation != nil && !directory.isLocked("5e1f0a77"))
    withExtendedLifetime(creation) {}
  }

  /// A process that opened the file before the holder removed it locks a file that no other process can find.
  @Test func aLockOnARemovedFileDoesNotCount() throws {
    let directory = try bench.open()
    try directory.write(record("5e1f0a77"))
    let lock = try directory.lock("5e1f0a77")
    try directory.remove("5e1f0a77")
    let next = try bench.open().lock("5e1f0a77")
    #expect(lock != nil && next != nil)
    withExtendedLifetime(lock) {}
  }

  /// As when its holder ends between the opening and the locking.
  @Test func aLockFileThatIsRemovedMeanwhileIsNoConflict() throws {
    let holder = try bench.open().lock("5e1f0a77")
    let late = shim_open_for_writing(bench.path + "/5e1f0a77.lock", Int32(SHIM_OPEN_EXISTING))
    defer { _ = shim_close(late) }
    #expect(shim_lock(late) == -EAGAIN)
    try bench.open().remove("5e1f0a77")
    // Whoever holds it, another file has its name.
    #expect(shim_lock(late) == -ENOENT)
    withExtendedLifetime(holder) {}
  }

  /// Nothing waits for it here: the caller retries later.
  @Test func theDirectorysOwnLockIsHeldByOne() throws {
    var holder = try bench.open().lockForCreation()
    #expect(holder != nil)
    #expect(try bench.open().lockForCreation() == nil)
    // It is not the lock of an upload.
    #expect(try bench.open().lock("5e1f0a77") != nil)
    holder = nil
    #expect(try bench.open().lockForCreation() != nil)
  }
}
