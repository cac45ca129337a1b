/// What a group has done since the watcher started. A group that replaces it after a reload of the configuration goes on counting.
package struct WatchHistory: Equatable, Sendable {
  let destination: String
  let directories: [LocalPath]
  var totals: WatchSnapshot.Totals
  var lastDelivery: WatchSnapshot.LastDelivery?

  /// A group that replaces one of the former ones.
  package struct Successor: Sendable {
    let destination: String
    let directories: [LocalPath]

    package init(destination: String, directories: [LocalPath]) {
      self.destination = destination
      self.directories = directories
    }
  }

  /// For each group, the history that it goes on with: one of the same destination, and of one of its directories if there is one. Each is
  /// used once.
  package static func assigned(_ histories: [WatchHistory], to groups: [Successor]) -> [WatchHistory?] {
    var rest = histories
    var assigned = [WatchHistory?](repeating: nil, count: groups.count)
    for needsDirectory in [true, false] {
      for (index, group) in groups.enumerated() where assigned[index] == nil {
        let found = rest.firstIndex { history in
          history.destination == group.destination
            && (!needsDirectory || history.directories.contains { group.directories.contains($0) })
        }
        assigned[index] = found.map { rest.remove(at: $0) }
      }
    }
    return assigned
  }
}

extension WatchMachine {
  /// What it has counted, from now on somewhere else.
  package mutating func takeHistory(destination: String, directories: [LocalPath]) -> WatchHistory {
    defer { report.totals = WatchSnapshot.Totals() }
    return WatchHistory(
      destination: destination, directories: directories, totals: report.totals, lastDelivery: report.lastDelivery)
  }

  /// Counts what another group has done as its own.
  package mutating func add(_ history: WatchHistory) {
    report.totals += history.totals
    guard let last = history.lastDelivery, last.at >= report.lastDelivery?.at ?? .min else { return }
    report.lastDelivery = last
  }
}
