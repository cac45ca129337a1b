/// Puts records in order of their age without holding all of them: they are shown again and again, and each time the oldest
/// that have not been taken are kept.
package struct OldestFirst {
  package struct Entry: Comparable, Sendable {
    /// Seconds since 1970.
    package let createdAt: Int64
    /// The ID's.
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
  /// The newest that has been taken.
  private var taken: Entry?
  /// Those after it do not fit in this round.
  private var limit: Entry?

  /// - Parameter capacity: the most that are taken at a time; twice as many are held.
  package init(capacity: Int) { self.capacity = capacity }

  /// Shows a record, in any order, and once or twice a round.
  package mutating func offer(_ entry: Entry) {
    if let taken, entry <= taken { return }
    if let limit, limit < entry { return }
    entries.append(entry)
    if entries.count >= 2 * capacity { trim() }
  }

  /// Takes the oldest of those that were shown.
  /// - Returns: oldest first, and whether there are more, so that all have to be shown again.
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
