/// Finds records without reading them: an on-disk hash table (open addressing, linear probing) from keys to record IDs. It is
/// only a hint, so callers must check the record. The header has sums of the known record names and of the table, which
/// reveal an index that is out of date or torn.
///
///     8 bytes each, little-endian:   "gighidx7"  instance  slots in use, and in the lowest byte bits of the capacity  boot
///                                    names: sum, count     sum of the slots      sum of the above
///     and 2^bits slots:              key         ID, and in the upper half 0 for free, 1 used, 2 removed
///                                    and of a delivered recording, or else 0: its number on the server, when it was delivered
package struct RecordIndex<Storage: IndexSource> {
  fileprivate let storage: Storage
  /// The generation of the index. It changes whenever the index is rebuilt.
  package let instance: UInt64
  fileprivate let capacityBits: UInt64
  fileprivate var usedCount: UInt64 = 0
  fileprivate var slotSum: UInt64 = 0
  /// The start of the machine since which the table is certainly whole; 0 for none.
  package var boot: UInt64 = 0
  package fileprivate(set) var names = RecordNameSum()

  fileprivate var capacity: Int { 1 << Int(capacityBits) }

  // MARK: Opening

  /// Reads the header. ``verify()`` reads the rest.
  package init(opening storage: Storage) throws(IndexError) {
    let words = IndexWords(try RecordIndex.read(IndexWords.headerLength, at: 0, of: storage))
    let (bits, used) = (words[2] & 0xff, words[2] >> 8)
    guard words.isHeader, bits >= Limits.indexMinimumBits, bits <= Limits.indexMaximumBits, used < 1 << bits
    else { throw .damaged }
    self.storage = storage
    instance = words[1]
    capacityBits = bits
    usedCount = used
    boot = words[3]
    names = RecordNameSum(sum: words[4], count: words[5])
    slotSum = words[6]
  }

  /// Checks the whole table.
  /// - Throws: `.damaged` if it is not what was written.
  package func verify() throws(IndexError) {
    var (sum, used, position) = (UInt64(0), UInt64(0), 0)
    while position < capacity {
      let count = min(Limits.indexReadSlots, capacity - position)
      let words = try words(count, at: position)
      for index in 0..<count {
        let slot = IndexSlot(words, at: 4 * index)
        guard slot != .free else { continue }
        used += 1
        sum &+= slot.sum(at: position + index)
      }
      position += count
    }
    guard sum == slotSum, used == usedCount else { throw .damaged }
  }

  /// Whether there is no room for this many more entries. A table that is more than half full is slow.
  package func isFull(for entries: Int) -> Bool { (Int(usedCount) + entries) * 2 > capacity }

  // MARK: Looking up

  /// The IDs of records that may have the key.
  /// - Parameter limit: the most IDs to return.
  package func numbers(_ key: IndexKey, limit: Int) throws(IndexError) -> [UInt32] {
    try entries(key, limit: limit).map { $0.number }
  }

  /// The same, with what is known about their deliveries.
  package func entries(
    _ key: IndexKey, limit: Int
  ) throws(IndexError) -> [(number: UInt32, delivery: IndexedDelivery)] {
    var found: [(number: UInt32, delivery: IndexedDelivery)] = []
    _ = try probe(key) { _, slot in
      if !slot.isRemoved { found.append((slot.number, slot.delivery)) }
      return found.count < limit
    }
    return found
  }

  /// Visits the slots that can have the key.
  /// - Parameter visit: gets the position of a removed slot, or of one with the key. Returning false stops.
  /// - Returns: the free slot at the end; nil if `visit` stopped.
  fileprivate func probe(_ key: IndexKey, _ visit: (Int, IndexSlot) -> Bool) throws(IndexError) -> Int? {
    var position = Int(key.hash >> (64 - capacityBits))
    var seen = 0
    while seen < capacity {
      let count = min(Limits.indexProbeSlots, capacity - position)
      let words = try words(count, at: position)
      for index in 0..<count {
        let slot = IndexSlot(words, at: 4 * index)
        if slot == .free { return position + index }
        guard slot.isRemoved || slot.has(key) else { continue }
        if !visit(position + index, slot) { return nil }
      }
      seen += count
      position = (position + count) % capacity
    }
    throw .damaged
  }

  // MARK: Reading

  fileprivate static func offset(_ position: Int) -> Int64 {
    Int64(IndexWords.headerLength + position * IndexSlot.length)
  }

  private static func read(_ count: Int, at offset: Int64, of storage: Storage) throws(IndexError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try storage.read(count, at: offset) } catch { throw .system(error) }
    guard bytes.count == count else { throw .damaged }
    return bytes
  }

  private func words(_ count: Int, at position: Int) throws(IndexError) -> IndexWords {
    IndexWords(try RecordIndex.read(count * IndexSlot.length, at: RecordIndex.offset(position), of: storage))
  }
}

extension RecordIndex where Storage: IndexStorage {
  /// Creates an empty index. It is invalid before ``flush()``.
  /// - Parameter entries: how many keys will be inserted, so that it need not be rebuilt soon.
  package init(building storage: Storage, entries: Int, instance: UInt64) throws(IndexError) {
    var bits = Limits.indexMinimumBits
    while bits < Limits.indexMaximumBits, 1 << Int(bits) < entries * 6 { bits += 1 }
    self.storage = storage
    self.instance = instance
    capacityBits = bits
    do throws(SystemError) {
      try storage.reset(length: Int64(IndexWords.headerLength + (1 << Int(bits)) * IndexSlot.length))
    } catch { throw .system(error) }
  }

  /// Adds an entry unless it exists.
  package mutating func insert(
    _ key: IndexKey, _ number: UInt32, _ delivery: IndexedDelivery
  ) throws(IndexError) {
    let new = IndexSlot(key, number, delivery)
    var (isThere, removed, previous) = (false, Int?.none, (position: Int, slot: IndexSlot)?.none)
    let end = try probe(key) { position, slot in
      if slot.isRemoved, removed == nil { removed = position }
      if !slot.isRemoved, slot.number == number { previous = (position, slot) }
      isThere = slot == new
      return previous == nil
    }
    if let previous, !isThere {
      slotSum &-= previous.slot.sum(at: previous.position)
      return try write(new, at: previous.position)
    }
    guard let end else { return }
    guard Int(usedCount) < capacity - 1 else { throw .damaged }
    if let removed {
      slotSum &-= IndexSlot.wasUsed.sum(at: removed)
    } else {
      usedCount += 1
    }
    try write(new, at: removed ?? end)
  }

  /// Removes an entry if it exists.
  package mutating func remove(_ key: IndexKey, _ number: UInt32) throws(IndexError) {
    var found: (position: Int, slot: IndexSlot)?
    _ = try probe(key) { position, slot in
      if !slot.isRemoved, slot.number == number { found = (position, slot) }
      return found == nil
    }
    guard let found else { return }
    slotSum &-= found.slot.sum(at: found.position)
    try write(.wasUsed, at: found.position)
  }

  package mutating func add(_ name: RecordName) { names.add(name) }

  package mutating func remove(_ name: RecordName) { names.remove(name) }

  /// Writes the header. After changes without it, the index counts as damaged.
  package func flush() throws(IndexError) {
    let words = [instance, usedCount << 8 | capacityBits, boot, names.sum, names.count, slotSum]
    try write(IndexWords.header(words), at: 0)
  }

  private mutating func write(_ slot: IndexSlot, at position: Int) throws(IndexError) {
    slotSum &+= slot.sum(at: position)
    try write(slot.bytes, at: RecordIndex.offset(position))
  }

  private func write(_ bytes: [UInt8], at offset: Int64) throws(IndexError) {
    do throws(SystemError) { try storage.write(bytes, at: offset) } catch { throw .system(error) }
  }
}

/// A key for looking up records: a 64-bit hash. Keys can collide, so the record itself must be checked.
package struct IndexKey: Equatable, Sendable {
  /// The kind of data that is hashed, so that a path never equals a digest.
  private enum Kind: UInt8 {
    case path = 1
    case file, content, asset, unreadable, boot, status, place, watched, anyPath, anyFile, secret, openFile, object
  }

  package let hash: UInt64

  private init(_ kind: Kind, _ texts: [[UInt8]] = [], numbers: [UInt64] = []) {
    // FNV-1a, with a final mix of all bits.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    add(kind.rawValue)
    for text in texts {
      for byte in text { add(byte) }
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: text.count >> shift)) }
    }
    for number in numbers {
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
    self.hash = IndexKey.mixed(hash)
  }

  package static func path(_ record: UploadRecord) -> IndexKey {
    IndexKey(.path, destination(record) + [record.file.path.bytes])
  }

  /// The upload of the same file on disk, whatever its name and event.
  package static func file(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .file, [Array(record.destination.endpoint.utf8), Array(identity.edges.utf8)],
      numbers: contentNumbers(identity) + [identity.device, identity.inode])
  }

  /// The unfinished upload of the same file on disk, whatever its name, content and event: it may grow.
  static func openFile(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .openFile, [Array(record.destination.endpoint.utf8)], numbers: [identity.device, identity.inode])
  }

  /// The upload of a file with the same name and content, possibly on another disk, whatever its event.
  static func content(_ record: UploadRecord) -> IndexKey {
    let name = Array(record.file.path.lastComponentBytes)
    return IndexKey(
      .content, [Array(record.destination.endpoint.utf8), Array(record.file.identity.edges.utf8), name],
      numbers: contentNumbers(record.file.identity))
  }

  /// The delivery of a file that has not been touched since, as its status says.
  package static func status(_ record: UploadRecord, _ status: StatusTime) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .status, destination(record),
      numbers: contentNumbers(identity) + [identity.device, identity.inode]
        + [status.seconds, status.nanoseconds].map { UInt64(bitPattern: $0) })
  }

  /// The delivery of a file at this path with the same size and edges, whenever it was written.
  package static func place(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .place, destination(record) + [record.file.path.bytes, Array(identity.edges.utf8)],
      numbers: [UInt64(bitPattern: identity.size)])
  }

  /// The unfinished upload of the file at this path, whatever its destination.
  static func anyPath(_ path: LocalPath) -> IndexKey { IndexKey(.anyPath, [path.bytes]) }

  /// The same by the file on disk, whatever its name.
  static func anyFile(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .anyFile, [Array(identity.edges.utf8)], numbers: contentNumbers(identity) + [identity.device, identity.inode])
  }

  private static func destination(_ record: UploadRecord) -> [[UInt8]] {
    let (endpoint, event) = (record.destination.endpoint, record.destination.event)
    return event.isEmpty ? [Array(endpoint.utf8)] : [Array(endpoint.utf8), Array(event.utf8)]
  }

  private static func contentNumbers(_ identity: FileIdentity) -> [UInt64] {
    [identity.size, identity.modifiedSeconds, identity.modifiedNanoseconds].map { UInt64(bitPattern: $0) }
  }

  /// The delivered record with the delete token of the recording.
  package static func asset(_ id: Int64, endpoint: String) -> IndexKey {
    IndexKey(.asset, [Array(endpoint.utf8)], numbers: [UInt64(bitPattern: id)])
  }

  /// The uploads that become the object with this URL.
  static func object(_ url: String) -> IndexKey { IndexKey(.object, [Array(url.utf8)]) }

  package static let unreadable = IndexKey(.unreadable)

  /// A hash of the kernel's boot ID; never 0.
  package static func boot(_ id: [UInt8]) -> UInt64 { max(1, IndexKey(.boot, [id]).hash) }

  /// A hash of what a look at a path has found; never 0.
  static func watched(_ path: [UInt8], _ numbers: [UInt64]) -> UInt64 {
    max(1, IndexKey(.watched, [path], numbers: numbers).hash)
  }

  /// A name for a text that is a secret, in hexadecimal digits.
  static func secret(_ text: String) -> String {
    ASCII.hex(IndexKey(.secret, [Array(text.utf8)]).hash)
  }

  /// Spreads a change of one bit over all bits (the finalizer of MurmurHash3).
  static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 33) &* 0xff51_afd7_ed55_8ccd
    value = (value ^ value >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return value ^ value >> 33
  }
}

/// A slot of the index: 32 bytes.
struct IndexSlot: Equatable {
  static let length = 32
  private static let used: UInt64 = 1
  private static let removed: UInt64 = 2

  static let free = IndexSlot(key: 0, word: 0, words: (0, 0))
  static let wasUsed = IndexSlot(key: 0, word: removed << 32, words: (0, 0))

  private let key: UInt64
  /// The record's number, and in the upper half 0 for a free slot, or `used` or `removed`.
  private let word: UInt64
  let delivery: IndexedDelivery

  private init(key: UInt64, word: UInt64, words: (UInt64, UInt64)) {
    self.key = key
    self.word = word
    delivery = IndexedDelivery(words: words)
  }

  init(_ key: IndexKey, _ number: UInt32, _ delivery: IndexedDelivery) {
    self.key = key.hash
    word = IndexSlot.used << 32 | UInt64(number)
    self.delivery = delivery
  }

  /// - Parameter first: where it begins in the words.
  init(_ words: IndexWords, at first: Int) {
    self.init(key: words[first], word: words[first + 1], words: (words[first + 2], words[first + 3]))
  }

  var isRemoved: Bool { word >> 32 == IndexSlot.removed }

  func has(_ key: IndexKey) -> Bool { self.key == key.hash && !isRemoved }

  var number: UInt32 { UInt32(truncatingIfNeeded: word) }

  private var words: [UInt64] { [key, word, delivery.words.0, delivery.words.1] }

  var bytes: [UInt8] { IndexWords.bytes(words) }

  /// Its contribution to the sum of the table.
  func sum(at position: Int) -> UInt64 {
    words.reversed().reduce(UInt64(position) &+ 1) { IndexKey.mixed($1 &+ IndexKey.mixed($0)) }
  }
}

package protocol IndexSource: AnyObject {
  /// - Returns: fewer bytes than `count` at the end.
  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8]
}

/// The storage of an index, such as a file.
package protocol IndexStorage: IndexSource {
  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError)
  /// Sets the length, and fills it with zeros.
  func reset(length: Int64) throws(SystemError)
}

/// Why an index cannot be used. It can be rebuilt from the records.
package enum IndexError: Error, Equatable {
  case damaged
  case system(SystemError)
}

/// The bytes of an index as 64-bit numbers.
struct IndexWords {
  static let headerLength = 64

  /// "gighidx7"
  private static let magic: UInt64 = 0x3778_6469_6867_6967

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  subscript(index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) })
  }

  var isHeader: Bool { self[0] == IndexWords.magic && self[7] == IndexWords.sum((0..<7).map { self[$0] }) }

  /// - Parameter numbers: the six between the first and the last.
  static func header(_ numbers: [UInt64]) -> [UInt8] {
    let words = [magic] + numbers
    return bytes(words + [sum(words)])
  }

  static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
  }

  private static func sum(_ words: [UInt64]) -> UInt64 { words.reduce(1) { IndexKey.mixed($0 &+ $1 &+ 1) } }
}

/// What the index knows about a delivered recording, so that its record need not be read.
package struct IndexedDelivery: Equatable, Sendable {
  /// GigHive's number for the recording; nil if it has none.
  package let assetID: Int64?
  /// Seconds since 1970; nil if it is not known.
  package let deliveredAt: Int64?

  /// Not delivered, or nothing is known.
  package static let none = IndexedDelivery(words: (0, 0))

  package init(_ record: UploadRecord) {
    assetID = record.assetID
    deliveredAt = record.delivery?.deliveredAt
  }

  init(words: (UInt64, UInt64)) {
    assetID = words.0 == 0 ? nil : Int64(bitPattern: words.0)
    deliveredAt = words.1 == 0 ? nil : Int64(bitPattern: words.1)
  }

  var words: (UInt64, UInt64) { (UInt64(bitPattern: assetID ?? 0), UInt64(bitPattern: deliveredAt ?? 0)) }
}

extension Limits {
  /// The capacity of the index, as powers of two: from 1024 slots of 32 bytes up to 512 MiB.
  static let indexMinimumBits: UInt64 = 10
  static let indexMaximumBits: UInt64 = 24
  /// Entries of the index read at a time, for one key and for all.
  static let indexProbeSlots = 32
  static let indexReadSlots = 4096
}
