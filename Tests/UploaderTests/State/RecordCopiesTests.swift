import Glibc
import Testing

@testable import Uploader

/// Records on FAT: each has a copy.
struct RecordCopiesTests {
  private let bench = StateBench()
  private let main = "5e1f0a77.record", copy = "5e1f0a77.record~"

  private func open() throws -> StateDirectory { try bench.open(keepsCopies: true) }

  private func sample(_ offset: Int64, _ phase: UploadRecord.Phase = .pending) -> UploadRecord {
    var sample = record("5e1f0a77", phase: phase)
    sample.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", offset: offset)
    return sample
  }

  /// The bytes of a record's file.
  private func written(_ record: UploadRecord) throws -> [UInt8] {
    let other = StateBench()
    try other.open(keepsCopies: true).write(record)
    return try #require(other.content(of: RecordName(of: record).text))
  }

  /// What the next process finds.
  private func found() throws -> UploadRecord? { try open().current("5e1f0a77") }

  /// As while too many files are open. A copy would be out of date after the next change, and no copy could cost a record on FAT.
  @Test func nothingIsWrittenWhileTheFileSystemIsUnknown() throws {
    let directory = try StateDirectory(LocalPath(bench.path), creates: false, warn: { _ in })
    #expect(throws: StateError.self) { try directory.keepsCopies() }
    #expect(mkdir(bench.path, 0o700) == 0)
    let isKept = try directory.keepsCopies()
    #expect(!isKept)
  }

  @Test func aRecordAndItsCopyAreTheSameBlocks() throws {
    try open().write(sample(1))
    #expect(bench.names == [main, copy])
    let bytes = try #require(bench.content(of: main))
    #expect(bytes.count == 4096 && bench.content(of: copy) == bytes && bench.mode(of: copy) == 0o600)
    let inodes = [bench.inode(of: main), bench.inode(of: copy)]
    try open().write(sample(2))
    #expect(try found() == sample(2) && [bench.inode(of: main), bench.inode(of: copy)] == inodes)
    #expect(try bench.content(of: main) == written(sample(2)) && bench.content(of: copy) == written(sample(2)))
    #expect(try open().records(.all) == [sample(2)] && bench.names == [main, copy])
  }

  /// If the record is torn, the copy alone may say what was delivered. What cannot be opened cannot be synced.
  @Test(arguments: ["5e1f0a77.delivered", "5e1f0a77.delivered~"])
  func aDeliveryIsCertainOnceBothAreOnTheDisk(name: String) throws {
    let directory = try open()
    try directory.write(sample(1, .delivered))
    try directory.syncDelivery("5e1f0a77")
    let path = bench.path + "/" + name
    unlink(path)
    symlink(name, path)
    #expect(throws: StateError.self) { try directory.syncDelivery("5e1f0a77") }
  }

  @Test func aRecordThatShrinksHasNoRest() throws {
    var long = sample(1)
    long.note = String(repeating: "x", count: 5000)
    try open().write(long)
    #expect(bench.content(of: main)?.count == 8192)
    try open().write(sample(1))
    #expect(try found() == sample(1) && bench.content(of: main)?.count == 4096)
  }

  /// Torn in the middle of a write: its start, none of it, none of its content, and some of its sectors.
  private static let tears: [@Sendable ([UInt8], [UInt8]) -> [UInt8]] = [
    { _, new in Array(new.prefix(100)) }, { _, _ in [] }, { _, new in [UInt8](repeating: 0, count: new.count) },
    { old, new in Array(old.prefix(512) + new.dropFirst(512)) },
    { old, new in Array(new.prefix(512) + old.dropFirst(512)) },
  ]

  /// The power goes while a record is written, and once more while the next process writes it again.
  @Test(arguments: 0..<5, 0..<5) func aCutLeavesTheFormerOrTheNewRecord(first: Int, second: Int) throws {
    // A path, so that the sectors differ.
    var old = sample(1)
    old.note = String(repeating: "a", count: 1000)
    var new = sample(2)
    new.note = String(repeating: "b", count: 1100)
    let oldBytes = try written(old)
    let newBytes = try written(new)
    let torn = RecordCopiesTests.tears[first](oldBytes, newBytes)
    try open().write(old)
    bench.put(torn, at: copy)
    #expect(try found() == old)
    bench.put(newBytes, at: copy)
    #expect(try found() == old)
    bench.put(torn, at: main)
    #expect(try found() == new)
    #expect(bench.names == [main, copy] && bench.warnings.isEmpty)
    // The damaged one is written first.
    bench.put(RecordCopiesTests.tears[second](newBytes, try written(sample(3))), at: main)
    #expect(try found() == new)
    try open().write(sample(3))
    #expect(try bench.content(of: main) == written(sample(3)) && bench.content(of: copy) == written(sample(3)))
    try open().write(sample(4))
    #expect(try bench.content(of: main) == written(sample(4)) && bench.content(of: copy) == written(sample(4)))
    #expect(bench.warnings.isEmpty)
  }

  /// Links are not written through.
  @Test func theCopyIsWrittenFirst() throws {
    try open().write(sample(1))
    unlink(bench.path + "/" + copy)
    symlink("elsewhere", bench.path + "/" + copy)
    #expect(throws: StateError.self) { try open().write(sample(2)) }
    #expect(try bench.content(of: main) == written(sample(1)) && found() == sample(1))
    unlink(bench.path + "/" + copy)
    rename(bench.path + "/" + main, bench.path + "/elsewhere")
    symlink("elsewhere", bench.path + "/" + main)
    #expect(throws: StateError.self) { try open().write(sample(2)) }
    #expect(try bench.content(of: copy) == written(sample(2)) && bench.content(of: "elsewhere") == written(sample(1)))
  }

  /// The one that stays while the other is overwritten may be torn.
  @Test(arguments: [0, 100, 4096]) func nothingIsWrittenWhileTheRecordCannotBeReadAndItsCopyIsNotWhole(length: Int)
    throws
  {
    try open().write(sample(1))
    unlink(bench.path + "/" + main)
    mkdir(bench.path + "/" + main, 0o700)
    let torn = [UInt8](repeating: 0, count: length)
    bench.put(torn, at: copy)
    #expect(throws: StateError.self) { try open().write(sample(2)) }
    #expect(bench.content(of: copy) == torn)
  }

  @Test func aRecordThatCannotBeReadHasItsCopy() throws {
    try open().write(sample(1))
    unlink(bench.path + "/" + main)
    mkdir(bench.path + "/" + main, 0o700)
    #expect(try found() == sample(1) && open().records(.open) == [sample(1)] && bench.warnings.isEmpty)
  }

  /// That says nothing about the record, which may be newer than its copy.
  @Test func aRecordThatThisProcessMayNotOpenIsNotReplacedByItsCopy() throws {
    try open().write(sample(1))
    symlink(main, bench.path + "/loop")
    unlink(bench.path + "/" + main)
    symlink("loop", bench.path + "/" + main)
    #expect(throws: StateError.self) { try found() }
  }

  /// The copy of a record that could not be read once must not be older than the record when that happens again.
  @Test func aDamagedRecordIsWrittenBeforeItsCopy() throws {
    try open().write(sample(1))
    bench.put(bytes("x"), at: main)
    mkdir(bench.path + "/elsewhere", 0o700)
    rename(bench.path + "/" + copy, bench.path + "/elsewhere/copy")
    symlink("elsewhere", bench.path + "/" + copy)
    #expect(throws: StateError.self) { try open().write(sample(2)) }
    #expect(try bench.content(of: main) == written(sample(2)) && found() == sample(2))
  }

  /// A power cut can leave a part of what was being removed.
  @Test func leftoversOfTheFormerRecordAreRemovedAfterADelivery() throws {
    var delivered = sample(1)
    delivered.state = .delivered(RecordedDelivery())
    try open().write(delivered)
    let names = bench.names
    bench.put(bytes(""), at: main)
    bench.put(bytes("x"), at: copy)
    #expect(try open().records(.open).isEmpty && open().records(.all) == [delivered])
    #expect(bench.names == names && bench.warnings.isEmpty)
  }

  @Test func aRecordIsSetAsideIfItAndItsCopyAreDamaged() throws {
    try open().write(sample(1))
    bench.put(bytes("x"), at: main)
    bench.put(bytes("x"), at: copy)
    #expect(try found() == nil && bench.names == [main + ".damaged", copy] && bench.warnings.count == 1)
  }

  /// Its record was removed, and the power went before both removals were on the disk.
  @Test func aCopyAloneIsNoRecord() throws {
    try open().write(sample(1))
    unlink(bench.path + "/" + main)
    #expect(try found() == nil && open().records(.all).isEmpty && bench.warnings.isEmpty)
  }

  /// One that another version of the program wrote, or on another file system.
  @Test func aFormerRecordGetsACopy() throws {
    try bench.open().write(sample(1))
    #expect(try found() == sample(1))
    try open().write(sample(2))
    try bench.open().write(sample(3))
    #expect(try found() == sample(3))
    // Where a rename is one step, only the record counts.
    bench.put(bytes("x"), at: main)
    #expect(try bench.open().current("5e1f0a77") == nil && bench.warnings.count == 1)
  }

  @Test func aDeliveryIsWrittenTwiceBeforeTheFormerRecordGoes() throws {
    try open().write(sample(1))
    try open().write(sample(300, .delivered))
    #expect(bench.names == ["5e1f0a77.delivered", "5e1f0a77.delivered~"])
    bench.put(bytes("x"), at: "5e1f0a77.delivered")
    #expect(try found() == sample(300, .delivered) && bench.warnings.isEmpty)
  }

  /// A power cut came between its two files. Otherwise a plain server would get the recording twice.
  @Test func theCopyOfADeliveryAloneIsADelivery() throws {
    try open().write(sample(1, .delivered))
    let delivered = "5e1f0a77.delivered"
    unlink(bench.path + "/" + delivered)
    try open().write(sample(1))
    let directory = try open()
    #expect(try directory.current("5e1f0a77") == sample(1, .delivered))
    directory.tidy(delivered: "5e1f0a77")
    #expect(bench.names == [delivered, delivered + "~"])
  }

  /// The clusters of a removed file, in a new one whose content did not reach the disk.
  @Test func aDeliveryFileWithTheContentOfAFormerRecordIsNoDelivery() throws {
    try open().write(sample(1))
    bench.put(try written(sample(1)), at: "5e1f0a77.delivered")
    bench.put(try written(sample(300, .delivered)), at: "5e1f0a77.delivered~")
    #expect(try found() == sample(300, .delivered) && bench.warnings.isEmpty)
  }

  @Test func aRemovedRecordLeavesNoCopy() throws {
    let directory = try open()
    for phase in [UploadRecord.Phase.pending, .delivered] {
      try directory.write(sample(1, phase))
      let lock = try directory.lock("5e1f0a77")
      try directory.remove("5e1f0a77")
      withExtendedLifetime(lock) {}
      #expect(bench.names.isEmpty)
    }
  }

  @Test func aNewRecordThatCannotBeWrittenLeavesNothing() throws {
    let directory = try open()
    symlink("elsewhere", bench.path + "/" + main)
    #expect(throws: StateError.self) { try directory.write(sample(1)) }
    #expect(bench.names.isEmpty)
  }

  @Test func theRoomForTheLastWriteIsOnTheDiskUntilThen() throws {
    let directory = try open()
    var sample = sample(1)
    try directory.write(sample)
    try directory.reserveSpace(for: sample)
    let room = try #require(bench.content(of: "5e1f0a77.room")).count
    sample.state = .delivered(RecordedDelivery())
    sample.delivery?.deleteToken = String(repeating: "\u{1}", count: Limits.serverTextLength)
    #expect(try room >= 2 * written(sample).count)
    try directory.write(sample, intoReservedSpace: true)
    #expect(try found() == sample && bench.names == ["5e1f0a77.delivered", "5e1f0a77.delivered~"])
  }
}
