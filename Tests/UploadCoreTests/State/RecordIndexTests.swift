import Testing

@testable import UploadCore

struct RecordIndexTests {
  private let storage = MemoryStorage()

  private func record(
    _ number: UInt32, path: LocalPath = "/srv/set.wav", endpoint: String = "https://hive/"
  ) -> UploadRecord { .sample(id: RecordName.id(number), path: path, endpoint: endpoint) }

  private func key(_ number: Int) -> IndexKey { record(0, path: LocalPath("/srv/" + String(number))).indexKeys[0] }

  private func empty() throws -> RecordIndex<MemoryStorage> {
    try RecordIndex(building: storage, entries: 0, instance: 7)
  }

  private func reopened() throws(IndexError) -> RecordIndex<MemoryStorage> {
    let index = try RecordIndex(opening: storage)
    try index.verify()
    return index
  }

  /// An index on the disk with so many entries, and some that are removed.
  private func filled(_ count: Int = 100) throws {
    var index = try empty()
    for number in 0..<count { try index.insert(key(number), UInt32(number), .none) }
    for number in stride(from: 0, to: count, by: 3) { try index.remove(key(number), UInt32(number)) }
    index.add(RecordName(number: 1, isDelivered: false))
    try index.flush()
  }

  // MARK: Finding

  @Test func entriesAreFoundAlsoAfterTheIndexIsOpenedAgain() throws {
    try filled()
    let index = try reopened()
    #expect(index.instance == 7)
    for number in 0..<100 {
      #expect(try index.numbers(key(number), limit: 9) == (number % 3 == 0 ? [] : [UInt32(number)]))
    }
  }

  @Test func severalRecordsCanHaveOneKeyEachOnce() throws {
    var index = try empty()
    for number: UInt32 in [5, 3, 5, 9, 3] { try index.insert(key(1), number, .none) }
    #expect(try index.numbers(key(1), limit: 9) == [5, 3, 9])
    #expect(try index.numbers(key(1), limit: 2) == [5, 3])
    try index.remove(key(1), 3)
    try index.remove(key(1), 3)
    #expect(try index.numbers(key(1), limit: 9) == [5, 9])
    // The slot of a removed entry is reused.
    try index.insert(key(1), 4, .none)
    #expect(try index.numbers(key(1), limit: 9) == [5, 4, 9])
    try index.flush()
    _ = try reopened()
  }

  @Test func aDeliveryIsKnownWithoutItsRecord() throws {
    var delivered = record(5)
    delivered.state = .sample(.delivered)
    delivered.delivery?.assetID = 7
    delivered.delivery?.deliveredAt = 1_795_000_000
    var index = try empty()
    try index.insert(key(1), 5, .none)
    try index.insert(key(1), 6, .none)
    #expect(try index.entries(key(1), limit: 9).map { $0.delivery } == [.none, .none])
    // Replaces what was known.
    try index.insert(key(1), 5, IndexedDelivery(delivered))
    try index.flush()
    let entries = try reopened().entries(key(1), limit: 9)
    #expect(entries.map { $0.number } == [5, 6])
    #expect(entries.map { $0.delivery } == [IndexedDelivery(delivered), .none])
    #expect(entries[0].delivery.assetID == 7 && entries[0].delivery.deliveredAt == 1_795_000_000)
    try index.remove(key(1), 5)
    try index.flush()
    #expect(try reopened().numbers(key(1), limit: 9) == [6])
  }

  @Test func theKeyOfAnUntouchedDeliveryDependsOnWhatIsOnTheDisk() {
    let (one, time) = (record(1), StatusTime(seconds: 6, nanoseconds: 7))
    #expect(IndexKey.status(one, time) == IndexKey.status(record(2, path: "/other.wav"), time))
    #expect(IndexKey.status(one, time) != IndexKey.status(one, StatusTime(seconds: 6, nanoseconds: 8)))
    #expect(IndexKey.status(one, time) != IndexKey.status(record(1, endpoint: "https://other/"), time))
  }

  @Test func theKeyOfAPlaceHasNoTime() {
    var delivered = record(1)
    delivered.state = .sample(.delivered)
    let later = UploadRecord.sample(identity(inode: 9, seconds: 6, nanoseconds: 0), path: delivered.file.path)
    #expect(delivered.indexKeys.contains(.place(later)) && later.searchKeys.contains(.place(delivered)))
    #expect(IndexKey.place(delivered) != IndexKey.place(record(1, path: "/other.wav")))
  }

  /// 700 entries with one key wrap around the end of the table.
  @Test func aRunOfEntriesWrapsAround() throws {
    var index = try empty()
    let last = try #require((0..<100_000).first { key($0).hash >> 54 == 1023 })
    for number: UInt32 in 0..<700 { try index.insert(key(last), number, .none) }
    #expect(try index.numbers(key(last), limit: .max) == Array(0..<700))
    try index.flush()
    #expect(try reopened().numbers(key(last), limit: .max).count == 700)
  }

  /// A dictionary is right.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func anyMixOfChangesComesToTheSameAsInADictionary(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var index = try empty()
    var expected: [Int: Set<UInt32>] = [:]
    for _ in 0..<2000 {
      let (which, number) = (Int(random.next() % 40), UInt32(random.next() % 10))
      if random.next() % 2 == 0 {
        try index.insert(key(which), number, .none)
        expected[which, default: []].insert(number)
      } else {
        try index.remove(key(which), number)
        expected[which]?.remove(number)
      }
      if index.isFull(for: 1) { break }
    }
    try index.flush()
    let again = try reopened()
    for which in 0..<40 { #expect(try Set(again.numbers(key(which), limit: .max)) == expected[which] ?? []) }
  }

  // MARK: Size

  @Test func anIndexForMoreRecordsIsLarger() throws {
    for (entries, slots) in [(0, 1024), (170, 1024), (171, 2048), (60_000, 524_288)] {
      _ = try RecordIndex(building: storage, entries: entries, instance: 1)
      #expect(storage.bytes.count == 64 + 32 * slots)
    }
  }

  @Test func anIndexIsFullWhenHalfOfItIsTaken() throws {
    var index = try empty()
    for number in 0..<509 { try index.insert(key(number), 1, .none) }
    #expect(!index.isFull(for: 3) && index.isFull(for: 4))
    // Removed entries count, because every search visits them.
    try index.remove(key(1), 1)
    #expect(index.isFull(for: 4))
  }

  // MARK: Damage

  @Test func anEmptyOrTruncatedIndexIsDamaged() throws {
    #expect(throws: IndexError.damaged) { try reopened() }
    try filled()
    let whole = storage.bytes
    for length in Array(0..<200) + Array(stride(from: 200, to: whole.count, by: 501)) + [whole.count - 1] {
      storage.bytes = Array(whole[..<length])
      #expect(throws: IndexError.damaged) { try reopened() }
    }
    storage.bytes = whole
    _ = try reopened()
  }

  @Test func bytesAfterTheTableAreIgnored() throws {
    try filled()
    storage.bytes += bytes("more")
    #expect(try reopened().numbers(key(1), limit: 9) == [1])
  }

  @Test func everyBitCounts() throws {
    try filled()
    let whole = storage.bytes
    for offset in Array(0..<64) + Array(stride(from: 64, to: whole.count, by: 29)) {
      storage.bytes[offset] ^= 1 << UInt8(offset % 8)
      #expect(throws: IndexError.damaged) { try reopened() }
      storage.bytes[offset] = whole[offset]
    }
  }

  @Test func anEntryInAnotherPlaceIsDamage() throws {
    try filled()
    let taken = try #require((0..<1024).first { storage.slot($0) != Array(repeating: 0, count: 32) })
    let free = try #require((0..<1024).first { storage.slot($0) == Array(repeating: 0, count: 32) })
    let (one, other) = (storage.slot(taken), storage.slot(free))
    storage.bytes.replaceSubrange(64 + 32 * free..<96 + 32 * free, with: one)
    storage.bytes.replaceSubrange(64 + 32 * taken..<96 + 32 * taken, with: other)
    #expect(throws: IndexError.damaged) { try reopened() }
  }

  /// A process that ends between two writes leaves an index that is rebuilt.
  @Test func aChangeWithoutItsHeaderIsDamage() throws {
    try filled()
    var index = try reopened()
    try index.insert(key(1000), 1, .none)
    #expect(throws: IndexError.damaged) { try reopened() }
    try index.flush()
    #expect(try reopened().numbers(key(1000), limit: 9) == [1])
  }

  @Test func anUnfinishedIndexIsInvalid() throws {
    try filled()
    var index = try empty()
    try index.insert(key(1), 1, .none)
    #expect(throws: IndexError.damaged) { try reopened() }
  }

  @Test func aDisksErrorIsReported() throws {
    var index = try empty()
    try index.flush()
    storage.failure = SystemError(code: 5)
    #expect(throws: IndexError.system(SystemError(code: 5))) { try index.insert(key(1), 1, .none) }
    #expect(throws: IndexError.system(SystemError(code: 5))) { try index.flush() }
    #expect(throws: IndexError.system(SystemError(code: 5))) { try reopened() }
    #expect(throws: IndexError.system(SystemError(code: 5))) { try empty() }
  }

  // MARK: Names

  @Test func theNamesAreThoseThatWereAdded() throws {
    var (index, names) = (try empty(), RecordNameSum())
    for number: UInt32 in [1, 2, 3] {
      index.add(RecordName(number: number, isDelivered: false))
      names.add(RecordName(number: number, isDelivered: false))
    }
    try index.flush()
    #expect(try reopened().names == names)
    names.remove(RecordName(number: 2, isDelivered: false))
    #expect(try reopened().names != names)
    // A delivery changes the name.
    names.add(RecordName(number: 2, isDelivered: true))
    #expect(try reopened().names != names)
    index.remove(RecordName(number: 2, isDelivered: false))
    index.add(RecordName(number: 2, isDelivered: true))
    try index.flush()
    #expect(try reopened().names == names)
  }
}

/// A disk in memory.
final class MemoryStorage: IndexStorage {
  var bytes: [UInt8] = []
  var failure: SystemError?

  func slot(_ position: Int) -> [UInt8] { Array(bytes[64 + 32 * position..<96 + 32 * position]) }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    if let failure { throw failure }
    let start = min(Int(offset), bytes.count)
    return Array(bytes[start..<min(bytes.count, start + count)])
  }

  func write(_ new: [UInt8], at offset: Int64) throws(SystemError) {
    if let failure { throw failure }
    bytes.replaceSubrange(Int(offset)..<Int(offset) + new.count, with: new)
  }

  func reset(length: Int64) throws(SystemError) {
    if let failure { throw failure }
    bytes = [UInt8](repeating: 0, count: Int(length))
  }
}
