/// Finds records without reading them: an on-disk hash table (open addressing, linear probing) from keys to record IDs. It is
/// only a hint, so callers must check the record. The header has sums of the known record names and of the table, which
/// reveal an index that is out of date or torn.
///
///     8 bytes each, little-endian:   "gighidx6"  instance  slots in use, and in the lowest byte bits of the capacity  mark
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
  /// Proves that the directory has not changed since this index was written; 0 for none.
  package var mark: UInt64 = 0
  /// The names of the records in it.
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
    mark = words[3]
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
    let words = [instance, usedCount << 8 | capacityBits, mark, names.sum, names.count, slotSum]
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
