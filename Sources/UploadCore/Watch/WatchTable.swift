/// The directories whose changes the kernel reports. It has one number for each, whatever the path, and reports a change once: a directory
/// that is watched on its own and is also in another one has several owners.
package struct WatchTable: Sendable {
  package struct Entry: Equatable, Sendable {
    package let owner: Int
    package fileprivate(set) var path: LocalPath
    /// The scan that has last seen it.
    fileprivate var scan: Int
  }

  private struct Watch {
    let number: Int32
    var entries: [Entry]
  }

  /// In the order of their numbers.
  private var watches: [Watch] = []

  package init() {}

  /// - Parameter scan: a number for ``prune(_:before:)``.
  /// - Returns: whether there is room for it.
  package mutating func add(_ number: Int32, owner: Int, path: LocalPath, scan: Int) -> Bool {
    let entry = Entry(owner: owner, path: path, scan: scan)
    let index = position(number)
    guard hasNumber(number, at: index) else {
      guard watches.count < Limits.watchedDirectoryCount else { return false }
      watches.insert(Watch(number: number, entries: [entry]), at: index)
      return true
    }
    if let known = watches[index].entries.firstIndex(where: { $0.owner == owner }) {
      watches[index].entries[known] = entry
    } else {
      watches[index].entries.append(entry)
    }
    return true
  }

  /// Removes the owner's directories that later scans have not found.
  /// - Returns: the numbers of those that have no other owner.
  package mutating func prune(_ owner: Int, before scan: Int) -> [Int32] {
    for index in watches.indices { watches[index].entries.removeAll { $0.owner == owner && $0.scan < scan } }
    let ended = watches.filter { $0.entries.isEmpty }.map { $0.number }
    watches.removeAll { $0.entries.isEmpty }
    return ended
  }

  /// Whose directory it is, and by what path; none if the number is not known.
  package func entries(of number: Int32) -> [Entry] {
    let index = position(number)
    return hasNumber(number, at: index) ? watches[index].entries : []
  }

  package mutating func remove(_ number: Int32) {
    let index = position(number)
    if hasNumber(number, at: index) { watches.remove(at: index) }
  }

  /// The position of a number, or where it would be.
  private func position(_ number: Int32) -> Int {
    var range = 0..<watches.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = watches[middle].number < number ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  private func hasNumber(_ number: Int32, at index: Int) -> Bool {
    index < watches.count && watches[index].number == number
  }
}
