/// What a group has done since the watcher started. A reload of the configuration makes new groups, which go on counting.
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
  package func history(destination: String, directories: [LocalPath]) -> WatchHistory {
    WatchHistory(
      destination: destination, directories: directories, totals: report.totals, lastDelivery: report.lastDelivery)
  }

  package mutating func proceed(from history: WatchHistory) {
    report.totals = history.totals
    report.lastDelivery = history.lastDelivery
  }
}
