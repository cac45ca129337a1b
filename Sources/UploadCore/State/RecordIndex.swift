/// Finds records without reading them: an on-disk hash table (open addressing, linear probing) from keys to record IDs. It is
/// only a hint, so callers must check the record. The header has sums of the known record names and of the table, which
/// reveal an index that is out of date or torn.
///
///     8 bytes each, little-endian:   "gighidx3"  instance  slots in use, and in the lowest byte bits of the capacity  mark
///                                    names: sum, count     sum of the slots      sum of the above
///     and 2^bits slots:              key         ID, and in the upper half 0 for free, 1 used, 2 removed
package struct RecordIndex<Storage: IndexStorage> {
  private let storage: Storage
  /// The generation of the index. It changes whenever the index is rebuilt.
  package let instance: UInt64
  private let capacityBits: UInt64
  private var usedCount: UInt64 = 0
  private var slotSum: UInt64 = 0
  /// Proves that the directory has not changed since this index was written; 0 for none.
  package var mark: UInt64 = 0
  /// The names of the records in it.
  package private(set) var names = RecordNames()

  private var capacity: Int { 1 << Int(capacityBits) }

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
    mark = words[3]
    names = RecordNames(sum: words[4], count: words[5])
    slotSum = words[6]
  }

  /// Creates an empty index. It is invalid before ``flush()``.
  /// - Parameter entries: how many keys will be inserted, so that it need not be rebuilt soon.
  package init(building storage: Storage, entries: Int, instance: UInt64) throws(IndexError) {
    var bits = Limits.indexMinimumBits
    while bits < Limits.indexMaximumBits, 1 << Int(bits) < entries * 6 { bits += 1 }
    self.storage = storage
    self.instance = instance
    capacityBits = bits
    do throws(SystemError) {
      try storage.reset(length: Int64(IndexWords.headerLength + (1 << Int(bits)) * IndexWords.slotLength))
    } catch { throw .system(error) }
  }

  /// Checks the whole table.
  /// - Throws: `.damaged` if it is not what was written.
  package func verify() throws(IndexError) {
    var (sum, used, position) = (UInt64(0), UInt64(0), 0)
    while position < capacity {
      let count = min(Limits.indexReadSlots, capacity - position)
      let words = try slots(count, at: position)
      for index in 0..<count {
        let (key, word) = (words[2 * index], words[2 * index + 1])
        guard key != 0 || word != 0 else { continue }
        used += 1
        sum &+= IndexWords.slotValue(position + index, key, word)
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
    var found: [UInt32] = []
    _ = try probe(key) { _, number in
      if let number { found.append(number) }
      return found.count < limit
    }
    return found
  }

  /// Visits the slots that can have the key.
  /// - Parameter visit: gets the position of a removed slot, or of one with the key and its ID. Returning false stops.
  /// - Returns: the free slot at the end; nil if `visit` stopped.
  private func probe(_ key: IndexKey, _ visit: (Int, UInt32?) -> Bool) throws(IndexError) -> Int? {
    var position = Int(key.hash >> (64 - capacityBits))
    var seen = 0
    while seen < capacity {
      let count = min(Limits.indexProbeSlots, capacity - position)
      let words = try slots(count, at: position)
      for index in 0..<count {
        let (hash, word) = (words[2 * index], words[2 * index + 1])
        if hash == 0, word == 0 { return position + index }
        let isRemoved = word >> 32 == IndexWords.removed
        guard isRemoved || hash == key.hash else { continue }
        if !visit(position + index, isRemoved ? nil : UInt32(truncatingIfNeeded: word)) { return nil }
      }
      seen += count
      position = (position + count) % capacity
    }
    throw .damaged
  }

  // MARK: Changing

  /// Adds an entry unless it exists.
  package mutating func insert(_ key: IndexKey, _ number: UInt32) throws(IndexError) {
    var (isThere, removed) = (false, Int?.none)
    let end = try probe(key) { position, other in
      if other == nil, removed == nil { removed = position }
      isThere = other == number
      return !isThere
    }
    guard let end else { return }
    guard Int(usedCount) < capacity - 1 else { throw .damaged }
    if let removed {
      slotSum &-= IndexWords.slotValue(removed, 0, IndexWords.removed << 32)
    } else {
      usedCount += 1
    }
    try write(key.hash, IndexWords.used << 32 | UInt64(number), at: removed ?? end)
  }

  /// Removes an entry if it exists.
  package mutating func remove(_ key: IndexKey, _ number: UInt32) throws(IndexError) {
    var found: Int?
    _ = try probe(key) { position, other in
      if other == number { found = position }
      return found == nil
    }
    guard let found else { return }
    slotSum &-= IndexWords.slotValue(found, key.hash, IndexWords.used << 32 | UInt64(number))
    try write(0, IndexWords.removed << 32, at: found)
  }

  package mutating func add(_ name: RecordName) { names.add(name) }

  package mutating func remove(_ name: RecordName) { names.remove(name) }

  /// Writes the header. After changes without it, the index counts as damaged.
  package func flush() throws(IndexError) {
    let words = [instance, usedCount << 8 | capacityBits, mark, names.sum, names.count, slotSum]
    try write(IndexWords.header(words), at: 0)
  }

  private mutating func write(_ key: UInt64, _ word: UInt64, at position: Int) throws(IndexError) {
    slotSum &+= IndexWords.slotValue(position, key, word)
    try write(IndexWords.bytes([key, word]), at: RecordIndex.offset(position))
  }

  // MARK: Storage

  private static func offset(_ position: Int) -> Int64 {
    Int64(IndexWords.headerLength + position * IndexWords.slotLength)
  }

  private static func read(_ count: Int, at offset: Int64, of storage: Storage) throws(IndexError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try storage.read(count, at: offset) } catch { throw .system(error) }
    guard bytes.count == count else { throw .damaged }
    return bytes
  }

  private func slots(_ count: Int, at position: Int) throws(IndexError) -> IndexWords {
    IndexWords(
      try RecordIndex.read(count * IndexWords.slotLength, at: RecordIndex.offset(position), of: storage))
  }

  private func write(_ bytes: [UInt8], at offset: Int64) throws(IndexError) {
    do throws(SystemError) { try storage.write(bytes, at: offset) } catch { throw .system(error) }
  }
}
