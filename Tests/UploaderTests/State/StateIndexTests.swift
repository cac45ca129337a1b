import CShims
import Glibc
import Testing

@testable import Uploader

/// The index is only a hint.
struct StateIndexTests {
  private let bench = StateBench()
  private let endpoint = "https://hive/"

  /// Leaves the record of an interrupted upload.
  private func leave(_ name: String) throws -> UploadRecord {
    bench.place(name)
    let kept = try bench.openRecord(name)
    try kept.updateUpload { $0.remote = RemoteUpload(url: "https://hive/files/" + name) }
    return kept.record
  }

  /// The file's modification time is that of the other one.
  private func copyTime(from one: String, to other: String) {
    var status = stat()
    guard stat(bench.directory.path(of: one), &status) == 0 else { fatalError("stat failed") }
    let times = [status.st_atim, status.st_mtim]
    guard utimensat(AT_FDCWD, bench.directory.path(of: other), times, 0) == 0 else { fatalError("utimensat failed") }
  }

  // MARK: Finding

  @Test func anUploadIsFoundAmongOthersWithoutReadingThem() throws {
    let previous = try leave("a.wav")
    let directory = try bench.open()
    _ = try bench.openRecord("a.wav", in: directory)
    for name in ["b.wav", "c.wav"] { _ = try leave(name) }
    // Reading them reports that they are damaged.
    for name in bench.names where name.hasSuffix(".record") && !name.hasPrefix(previous.id) { bench.put([], at: name) }
    #expect(try bench.openRecord("a.wav", in: directory).record.id == previous.id && bench.warnings.isEmpty)
  }

  @Test func theIndexIsForTheUserAloneWhateverTheUmask() throws {
    let before = umask(0)
    defer { umask(before) }
    _ = try leave("a.wav")
    #expect(bench.mode(of: "index") == 0o600)
  }

  @Test func aFileThatWasRenamedIsFound() throws {
    let previous = try leave("a.wav")
    rename(bench.directory.path(of: "a.wav"), bench.directory.path(of: "b.wav"))
    #expect(try bench.openRecord("b.wav").record.id == previous.id)
    // And from then on by its new name.
    bench.place("b.wav", recording(999))
    #expect(try bench.openRecord("b.wav").record.id == previous.id)
  }

  @Test func aMediumThatWasPutInElsewhereIsFound() throws {
    for name in ["usb0", "usb1"] { mkdir(bench.directory.path(of: name), 0o700) }
    let previous = try leave("usb0/a.wav")
    bench.place("usb1/a.wav")
    copyTime(from: "usb0/a.wav", to: "usb1/a.wav")
    // While the first one exists, it is a copy.
    #expect(try bench.openRecord("usb1/a.wav").record.id != previous.id)
    unlink(bench.directory.path(of: "usb0/a.wav"))
    for id in try bench.open().records(.open).map({ $0.id }) where id != previous.id { try bench.open().remove(id) }
    #expect(try bench.openRecord("usb1/a.wav").record.id == previous.id)
  }

  @Test func aCancellationEndsTheBuildingOfTheIndexAndTheNextProcessBuildsIt() throws {
    var ids: [String] = []
    for number in 0..<2 * Limits.cancellationCheckRecordCount { ids.append(try leave(String(number)).id) }
    bench.put([], at: "index")
    let directory = try bench.open()
    let cancellation = Cancellation()
    directory.cancellation = cancellation
    cancellation.cancel()
    #expect(try RecordSearch.locked(directory, usesIndex: true) == nil)
    #expect(try bench.openRecord("9").record.id == ids[9])
    // Reading them reports that they are damaged.
    for name in bench.names where name.hasSuffix(".record") { bench.put([], at: name) }
    bench.put([], at: "index")
    #expect(try RecordSearch.locked(directory, usesIndex: true) == nil)
    #expect(bench.warnings.count == Limits.cancellationCheckRecordCount - 1)
  }

  @Test func aCancellationEndsTheReadingOfAllRecordsWithoutAnIndex() throws {
    for number in 0..<Limits.cancellationCheckRecordCount { _ = try leave(String(number)) }
    unlink(bench.path + "/index")
    mkdir(bench.path + "/index", 0o700)
    for name in bench.names where name.hasSuffix(".record") { bench.put([], at: name) }
    bench.place("new")
    let directory = try bench.open()
    let cancellation = Cancellation()
    directory.cancellation = cancellation
    cancellation.cancel()
    // No record is created, because one that was not read may be that of this file.
    #expect(try bench.openRecordOnce(LocalPath(bench.directory.path(of: "new")), in: directory) == nil)
    // One about the index, one for each record that was read.
    #expect(bench.warnings.count == 1 + Limits.cancellationCheckRecordCount - 1)
    #expect(bench.names.count { $0.hasSuffix(".record") } == 1)
  }

  @Test func manyMoreRecordsThanTheIndexHasRoomForAreFound() throws {
    let directory = try bench.open()
    var ids: [String] = []
    for number in 0..<400 {
      bench.place("file", bytes(String(number) + "."))
      rename(bench.directory.path(of: "file"), bench.directory.path(of: String(number)))
      ids.append(try bench.openRecord(String(number), in: directory).record.id)
    }
    #expect(Set(ids).count == 400)
    for number in stride(from: 0, to: 400, by: 7) {
      #expect(try bench.openRecord(String(number), in: directory).record.id == ids[number])
    }
    #expect(try bench.openRecord("399").record.id == ids[399])
  }

  // MARK: Changes by others

  private static let damages: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
    ("empty", { _ in [] }), ("cut", { Array($0[..<1000]) }), ("zero", { [UInt8](repeating: 0, count: $0.count) }),
    ("another header", { [UInt8](repeating: 1, count: 64) + $0[64...] }),
    ("no entries", { $0[..<64] + [UInt8](repeating: 0, count: $0.count - 64) }),
    ("text", { _ in bytes("#!/bin/sh\n") }),
  ]

  @Test(arguments: damages.map { $0.0 })
  func anIndexThatAPowerCutHasDamagedIsBuiltAgain(name: String) throws {
    let previous = try leave("a.wav")
    let damage = try #require(StateIndexTests.damages.first { $0.0 == name })
    bench.put(damage.1(try #require(bench.content(of: "index"))), at: "index")
    let directory = try bench.open()
    directory.indexState.boot = 7
    #expect(try bench.openRecord("a.wav", in: directory).record.id == previous.id && bench.warnings.isEmpty)
    _ = try RecordIndex(opening: MemoryStorage(try #require(bench.content(of: "index")))).verify()
  }

  /// On a slow card, that takes seconds if there are many records.
  @Test func theWholeTableIsReadOnceAfterEachStartOfTheMachine() throws {
    let previous = try leave("a.wav")
    let whole = try #require(bench.content(of: "index"))
    func isFound(boot: UInt64?) throws -> Bool {
      let directory = try bench.open()
      directory.indexState.boot = boot
      return try bench.openRecord("a.wav", in: directory).record.id == previous.id
    }
    #expect(try isFound(boot: 7))
    // The header says that the table was whole.
    let header = try #require(bench.content(of: "index"))[..<64]
    bench.put(header + [UInt8](repeating: 0, count: whole.count - 64), at: "index")
    #expect(try !isFound(boot: 7))
  }

  @Test func aMissingIndexIsBuiltAgainAlsoUnderAProcessThatKnewIt() throws {
    let previous = try leave("a.wav")
    let directory = try bench.open()
    _ = try bench.openRecord("a.wav", in: directory)
    unlink(bench.path + "/index")
    #expect(try bench.openRecord("a.wav", in: directory).record.id == previous.id)
    unlink(bench.path + "/index")
    #expect(try bench.openRecord("a.wav").record.id == previous.id)
  }

  /// By a process that was killed in between.
  @Test func aRecordThatWasWrittenPastTheIndexIsFound() throws {
    _ = try leave("a.wav")
    bench.place("b.wav")
    var other = try bench.openRecord("b.wav").record
    try bench.open().remove(other.id)
    other.unfinished?.remote = RemoteUpload(url: "https://hive/files/b", offset: 10)
    let text = String(decoding: other.encoded(crc32: { _ in 0 }), as: UTF8.self).drop { $0 != "{" }
    let length = String(10_000_000_000 + text.utf8.count).dropFirst()
    let sum = String(0x1_0000_0000 + UInt64(crc32(text)), radix: 16).dropFirst()
    bench.put(bytes("gighive-upload record 2 \(length) \(sum)\n" + text), at: other.id + ".record")
    let kept = try bench.openRecord("b.wav")
    #expect(kept.record.id == other.id && kept.record.remote?.url == "https://hive/files/b")
  }

  @Test func theIndexIsNotBelievedAboutMissingOrForeignRecords() throws {
    let previous = try leave("a.wav")
    let index = try #require(bench.content(of: "index"))
    try bench.open().remove(previous.id)
    let directory = try bench.open()
    bench.put(index, at: "index")
    #expect(try bench.openRecord("a.wav", in: directory).record.id != previous.id)
    // Another file's record under the ID that the index has.
    var liar = record(previous.id)
    liar.destination.endpoint = endpoint
    try directory.write(liar)
    bench.put(index, at: "index")
    #expect(try bench.openRecord("a.wav").record.id != previous.id)
  }

  /// Otherwise old entries of a file would hide the last one.
  @Test func entriesOfMissingRecordsAreRemoved() throws {
    bench.place("a.wav")
    for _ in 0..<100 { try bench.open().remove(try bench.openRecord("a.wav").record.id) }
    let last = try bench.openRecord("a.wav").record
    #expect(try bench.openRecord("a.wav").record.id == last.id)
    let index = try RecordIndex(opening: MemoryStorage(try #require(bench.content(of: "index"))))
    for key in last.indexKeys { #expect(try index.numbers(key, limit: .max) == [RecordName.number(ofID: last.id)]) }
  }

  @Test func leftoversOfAProcessKilledWhileCreatingARecordAreRemovedUnlessLocked() throws {
    let id = try leave("a.wav").id
    // A record enters the index first.
    do {
      let search = try #require(try RecordSearch.locked(bench.open(), usesIndex: true))
      search.endIndexing(with: record("0badcafe"), previous: nil)
    }
    for ending in ["lock", "new", "room"] { bench.put(bytes("part"), at: "0badcafe." + ending) }
    let other = try bench.open()
    let lock = try other.lock("feedf00d")
    _ = try leave("b.wav")
    #expect(!bench.names.contains { $0.hasPrefix("0badcafe") })
    #expect(bench.names.contains("feedf00d.lock") && bench.names.contains(id + ".record"))
    withExtendedLifetime(lock) {}
    #expect(bench.warnings.isEmpty)
  }

  @Test(arguments: ["a directory", "a FIFO", "a link"])
  func anythingElseInPlaceOfTheIndexOnlyCostsTime(kind: String) throws {
    let previous = try leave("a.wav")
    unlink(bench.path + "/index")
    switch kind {
    case "a directory": mkdir(bench.path + "/index", 0o700)
    case "a FIFO": mkfifo(bench.path + "/index", 0o600)
    default: symlink(bench.directory.path(of: "a.wav"), bench.path + "/index")
    }
    #expect(try bench.openRecord("a.wav").record.id == previous.id)
    #expect(bench.warnings.count == 1 && bench.warnings[0].contains("index"))
    rmdir(bench.path + "/index")
    unlink(bench.path + "/index")
    #expect(try bench.openRecord("a.wav").record.id == previous.id)
  }

  @Test func anotherVersionsRecordIsReportedByEveryProcessAndUsedOnceItCanBeRead() throws {
    let previous = try leave("a.wav")
    let content = try #require(bench.content(of: previous.id + ".record"))
    bench.put(bytes("gighive-upload record 9 x"), at: previous.id + ".record")
    unlink(bench.path + "/index")
    bench.place("b.wav")
    for count in 1...3 {
      _ = try bench.openRecord("b.wav")
      #expect(bench.warnings.count == count && bench.warnings.allSatisfy { $0.contains("another version") })
    }
    bench.put(content, at: previous.id + ".record")
    #expect(try bench.openRecord("a.wav").record.id == previous.id && bench.warnings.count == 3)
  }

  @Test(arguments: [true, false])
  func anUploadWhoseRecordCouldNotBeReadKeepsItsFile(hasIndex: Bool) throws {
    let previous = try leave("a.wav")
    let content = try #require(bench.content(of: previous.id + ".record"))
    bench.put(bytes("gighive-upload record 9 x"), at: previous.id + ".record")
    unlink(bench.path + "/index")
    if !hasIndex { mkdir(bench.path + "/index", 0o700) }
    let directory = try bench.open()
    let kept = try bench.openRecord("a.wav", endpoint: "https://other/", in: directory)
    try kept.noteDelivery()
    bench.put(content, at: previous.id + ".record")
    let search = try #require(try RecordSearch.locked(directory, usesIndex: true))
    #expect(try search.unfinished(needing: kept.record)?.id == previous.id)
  }

  @Test func whileAnotherProcessHasTheIndexNothingBegins() throws {
    _ = try leave("a.wav")
    let holder = try bench.open().lock(file: LocalPath(bench.path + "/index"))
    let file = try SourceFile.open(LocalPath(bench.directory.path(of: "a.wav")), limit: .max)
    let identity = FileIdentity(device: 1, inode: 2, size: 3, modifiedSeconds: 4, modifiedNanoseconds: 5, edges: "")
    let request = UploadRequest(file: file.path, destination: .tus(try TargetURI(endpoint)))
    let opened = try LockedRecord.open(for: file, identity, of: request, in: try bench.open()).locked()
    #expect(opened == nil)
    withExtendedLifetime(holder) {}
  }

  /// The index was locked at the delivery, so it lacks the record.
  @Test func aDeliveryThatTheIndexDoesNotHaveIsFound() throws {
    bench.place("a.wav")
    var kept: LockedRecord? = try bench.openRecord("a.wav")
    var holder: StateLock? = try bench.open().lock(file: LocalPath(bench.path + "/index"))
    try kept?.noteDelivery(asset: 1, token: "token")
    #expect(holder != nil)
    holder = nil
    kept = nil
    #expect(try deliver("b.wav", asset: 1, token: nil).delivery?.deleteToken == "token")
  }

  // MARK: Deliveries

  private func deliver(_ name: String, asset: Int64, token: String?) throws -> UploadRecord {
    bench.place(name, recording(1000 + Int(asset)))
    let kept = try bench.openRecord(name)
    try kept.noteDelivery(asset: asset, token: token)
    return kept.record
  }

  @Test func theTokenOfARecordingIsFoundAmongDeliveredOnesWithoutReadingThem() throws {
    let directory = try bench.open()
    for asset: Int64 in 1...3 { _ = try deliver("a.wav", asset: asset, token: "token\(asset)") }
    let second = try #require(try bench.open().records(.all).first { $0.assetID == 2 })
    bench.place("b.wav")
    let kept = try bench.openRecord("b.wav", in: directory)
    for name in bench.names where name.hasSuffix(".delivered") && !name.hasPrefix(second.id) { bench.put([], at: name) }
    try kept.noteDelivery(asset: 2)
    #expect(kept.record.delivery?.deleteToken == "token2" && bench.warnings.isEmpty)
    #expect(try bench.open().current(second.id) != nil)
  }

  @Test func withoutAnIndexTheTokenIsFoundByReadingThem() throws {
    let previous = try deliver("a.wav", asset: 1, token: "token")
    unlink(bench.path + "/index")
    mkdir(bench.path + "/index", 0o700)
    unlink(bench.directory.path(of: "a.wav"))
    #expect(try deliver("b.wav", asset: 1, token: nil).delivery?.deleteToken == "token")
    #expect(try bench.open().current(previous.id) == nil)
  }

  /// After ordinary deliveries and removals nothing is rebuilt.
  @Test func theIndexOfAProcessThatHasEndedIsThatOfTheRecords() throws {
    for asset: Int64 in 1...3 { _ = try deliver("a.wav", asset: asset, token: "token\(asset)") }
    _ = try deliver("b.wav", asset: 2, token: nil)
    _ = try leave("c.wav")
    let gone = try leave("d.wav")
    try bench.open().remove(gone.id)
    let index = try RecordIndex(opening: MemoryStorage(try #require(bench.content(of: "index"))))
    try index.verify()
    var names = RecordNameSum()
    for record in try bench.open().records(.all) { names.add(RecordName(of: record)) }
    #expect(names.count == 5 && index.names == names)
    let instance = index.instance
    _ = try bench.openRecord("c.wav")
    let later = try RecordIndex(opening: MemoryStorage(try #require(bench.content(of: "index"))))
    #expect(later.instance == instance)
  }
}

/// An index that was read from the disk.
private final class MemoryStorage: IndexStorage {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    Array(bytes[min(Int(offset), bytes.count)..<min(bytes.count, Int(offset) + count)])
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) { throw SystemError(code: EROFS) }

  func reset(length: Int64) throws(SystemError) { throw SystemError(code: EROFS) }
}

/// That of zlib, over a text.
private func crc32(_ text: Substring) -> UInt32 {
  let content = Array(text.utf8)
  return shim_crc32(content, content.count)
}
