/// Sorts records by age without holding all of them. They are offered in several rounds, and each round keeps the oldest ones
/// not taken yet.
package struct OldestFirst {
  package struct Entry: Comparable, Sendable {
    /// Seconds since 1970.
    package let createdAt: Int64
    /// The number of the ID.
    package let number: UInt32

    package init(createdAt: Int64, number: UInt32) {
      self.createdAt = createdAt
      self.number = number
    }

    package static func < (one: Entry, other: Entry) -> Bool {
      (one.createdAt, one.number) < (other.createdAt, other.number)
    }
  }

  private let capacity: Int
  private var entries: [Entry] = []
  /// The newest entry taken so far.
  private var taken: Entry?
  /// Entries after this one do not fit into this round.
  private var limit: Entry?

  /// - Parameter capacity: the most entries taken per round. Twice as many are held.
  package init(capacity: Int) { self.capacity = capacity }

  /// Offers a record, in any order, once or twice per round.
  package mutating func offer(_ entry: Entry) {
    if let taken, entry <= taken { return }
    if let limit, limit < entry { return }
    entries.append(entry)
    if entries.count >= 2 * capacity { trim() }
  }

  /// Takes the oldest of the offered entries.
  /// - Returns: the entries, oldest first, and whether there are more, so that all must be offered again.
  package mutating func take() -> (entries: [Entry], hasMore: Bool) {
    trim()
    defer {
      taken = entries.last ?? taken
      entries.removeAll(keepingCapacity: true)
      limit = nil
    }
    return (entries, limit != nil)
  }

  private mutating func trim() {
    entries.sort()
    var kept = 0
    for entry in entries where kept == 0 || entries[kept - 1] != entry {
      if kept == capacity {
        limit = entries[capacity - 1]
        break
      }
      entries[kept] = entry
      kept += 1
    }
    entries.removeLast(entries.count - kept)
  }
}
