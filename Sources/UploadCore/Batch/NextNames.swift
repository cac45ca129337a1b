/// Sorts the names in a directory by their bytes, without holding all of them. They are offered in several rounds, and each round
/// keeps the first ones that have not been taken yet.
package struct NextNames: Sendable {
  package struct Name: Equatable, Sendable {
    package let bytes: [UInt8]
    package let isDirectory: Bool
  }

  private struct Entry {
    let start: Int
    let length: Int
    let isDirectory: Bool
  }

  private let capacity: Int
  /// The bytes of all names held.
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// How many of the entries have been taken.
  private var takenCount = 0
  /// The last name of the round before.
  private var last: [UInt8]?
  /// Names after this one do not fit into this round.
  private var limit: [UInt8]?

  /// - Parameter capacity: the most to keep per round, in bytes with ``Limits/nameOverhead`` for each name. At least one name is kept,
  ///   and twice as much is held.
  package init(capacity: Int) { self.capacity = capacity }

  /// Offers a name, in any order, once per round.
  package mutating func offer(_ name: some Collection<UInt8>, isDirectory: Bool) {
    if let last, !last.lexicographicallyPrecedes(name) { return }
    if let limit, limit.lexicographicallyPrecedes(name) { return }
    entries.append(Entry(start: bytes.count, length: name.count, isDirectory: isDirectory))
    bytes.append(contentsOf: name)
    if heldLength >= 2 * capacity { trim() }
  }

  /// Ends a round: its names can be taken now.
  package mutating func endRound() { trim() }

  package mutating func next() -> Name? {
    guard takenCount < entries.count else { return nil }
    defer { takenCount += 1 }
    return Name(bytes: Array(name(entries[takenCount])), isDirectory: entries[takenCount].isDirectory)
  }

  /// Whether there are more names, which must be offered again. All names of this round must have been taken.
  package mutating func beginNextRound() -> Bool {
    precondition(takenCount == entries.count, "a round that has not ended")
    guard limit != nil else { return false }
    last = limit
    limit = nil
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    takenCount = 0
    return true
  }

  private var heldLength: Int { bytes.count + entries.count * Limits.nameOverhead }

  private func name(_ entry: Entry) -> ArraySlice<UInt8> { bytes[entry.start..<(entry.start + entry.length)] }

  /// Sorts, and keeps what fits.
  private mutating func trim() {
    let names = bytes
    func name(_ entry: Entry) -> ArraySlice<UInt8> { names[entry.start..<(entry.start + entry.length)] }
    entries.sort { name($0).lexicographicallyPrecedes(name($1)) }
    var length = 0
    var kept = 0
    while kept < entries.count {
      length += entries[kept].length + Limits.nameOverhead
      if kept > 0, length > capacity { break }
      kept += 1
    }
    guard kept < entries.count else { return }
    limit = Array(name(entries[kept - 1]))
    bytes.removeAll(keepingCapacity: true)
    for index in 0..<kept {
      let start = bytes.count
      bytes.append(contentsOf: name(entries[index]))
      entries[index] = Entry(start: start, length: entries[index].length, isDirectory: entries[index].isDirectory)
    }
    entries.removeLast(entries.count - kept)
  }
}

extension Limits {
  /// The overhead per name, in bytes.
  package static let nameOverhead = 24
}
