import Testing

@testable import UploadCore

struct WatchTableTests {
  private var table = WatchTable()

  private func owners(_ number: Int32) -> [Int] { table.entries(of: number).map { $0.owner } }

  @Test mutating func aDirectoryHasTheOwnersThatHaveAddedIt() {
    for (owner, path) in [(0, "/rec/films"), (1, "/rec/films"), (0, "/rec/videos")] as [(Int, LocalPath)] {
      let isAdded = table.add(5, owner: owner, path: path, scan: 1)
      #expect(isAdded)
    }
    #expect(owners(5) == [0, 1] && table.entries(of: 5).map { $0.path } == ["/rec/videos", "/rec/films"])
    #expect(owners(4).isEmpty && owners(6).isEmpty)
    table.remove(5)
    #expect(owners(5).isEmpty)
  }

  @Test mutating func itsWatchEndsWithItsLastOwner() {
    for owner in [0, 1] { _ = table.add(5, owner: owner, path: "/rec/films", scan: 1) }
    _ = table.add(3, owner: 0, path: "/rec", scan: 2)
    var ended = [table.prune(0, before: 2)]
    #expect(owners(5) == [1] && owners(3) == [0])
    ended.append(table.prune(1, before: .max))
    #expect(ended == [[], [5]] && owners(5).isEmpty && owners(3) == [0])
  }

  @Test mutating func anOwnerThatEndsLeavesTheOthersTheirs() {
    for owner in [0, 1] { _ = table.add(5, owner: owner, path: "/rec", scan: 1) }
    _ = table.add(3, owner: 0, nameOf: "/rec")
    let ended = table.remove(of: 0)
    #expect(ended == [3] && owners(5) == [1])
  }

  @Test mutating func aDirectoryCanHaveSeveralPaths() {
    for (owner, path) in [(0, "/rec/sub"), (1, "/link"), (2, "/rec/sub")] as [(Int, LocalPath)] {
      _ = table.add(5, owner: owner, path: path, scan: 1)
    }
    _ = table.add(3, owner: 0, path: "/rec", scan: 1)
    _ = table.add(3, owner: 4, nameOf: "/rec/sub")
    #expect(table.paths(of: "/link") == ["/link", "/rec/sub"])
    #expect(table.paths(of: "/rec") == ["/rec"] && table.paths(of: "/other") == ["/other"])
  }

  @Test mutating func directoriesAreFoundByTheirNumbersInAnyOrderOfAdding() {
    for number in [Int32](1...50).shuffled() { _ = table.add(number, owner: Int(number), path: "/rec", scan: 0) }
    for number in 1...50 { #expect(owners(Int32(number)) == [number]) }
  }

  @Test mutating func theNumberOfWatchesIsLimitedButAnotherOwnerNeedsNoRoom() {
    let last = Int32(Limits.watchedDirectoryCount)
    for number in 1...last { _ = table.add(number, owner: 0, path: "/rec", scan: 0) }
    let isAdded = [last + 1, last].map { table.add($0, owner: 1, path: "/rec", scan: 0) }
    #expect(isAdded == [false, true])
  }

  @Test mutating func theMeaningOfAnEventDependsOnWhatIsWatched() {
    _ = table.add(5, owner: 0, path: "/rec", scan: 1)
    _ = table.add(5, owner: 1, nameOf: "/rec/card")
    func changes(_ event: WatchTable.Event, _ name: String) -> [WatchTable.Change] {
      table.changes(of: 5, event, name: Array(name.utf8))
    }
    func change(_ kind: WatchTable.Change.Kind, _ owner: Int, _ path: LocalPath) -> WatchTable.Change {
      WatchTable.Change(kind: kind, owner: owner, path: path)
    }
    #expect(changes(.file, "a.wav") == [change(.file, 0, "/rec/a.wav")])
    #expect(changes(.directory, "card") == [change(.directory, 0, "/rec/card"), change(.name, 1, "/rec/card")])
    #expect(changes(.removal, "card") == [change(.name, 1, "/rec/card")])
    #expect(changes(.removal, "a.wav").isEmpty)
    #expect(changes(.permissions, "sub") == [change(.permissions, 0, "/rec/sub")])
    #expect(changes(.permissions, "") == [change(.permissions, 0, "/rec")])
    #expect(changes(.end, "") == [change(.gone, 0, "/rec"), change(.nameEnded, 1, "/rec/card")])
  }

  @Test mutating func noScanEndsTheWatchOfAName() {
    _ = table.add(5, owner: 0, nameOf: "/rec")
    _ = table.add(5, owner: 0, path: "/", scan: 1)
    let ended = table.prune(0, before: .max)
    #expect(ended.isEmpty && table.entries(of: 5).map { $0.isOfName } == [true])
  }
}

struct ScanFailuresTests {
  private var failures = ScanFailures()

  @Test mutating func eachPlaceIsNewOnceAndAgainWhenItHasFailedForAnotherReason() {
    var news: [ScanFailures.News] = []
    for scan in 1...3 {
      for place in ["/rec/a", "/rec/b"] as [LocalPath] { news.append(failures.note(place, "denied", scan: scan)) }
      failures.scanEnded(scan)
    }
    #expect(news == [.new, .new, .known, .known, .known, .known])
    let other = failures.note("/rec/a", "too deep", scan: 4)
    #expect(other == .new)
  }

  @Test mutating func placesThatNoLongerFailAreForgotten() {
    _ = failures.note("/rec/a", "denied", scan: 1)
    failures.scanEnded(1)
    #expect(failures.contains("/rec/a"))
    failures.scanEnded(2)
    #expect(!failures.contains("/rec/a"))
    let again = failures.note("/rec/a", "denied", scan: 3)
    #expect(again == .new)
  }

  @Test mutating func anExcessOfFailuresIsReportedOnceUntilThereIsRoom() {
    var news: [ScanFailures.News] = []
    for scan in [1, 2] {
      for number in 0..<Limits.watchScanFailureCount {
        _ = failures.note(LocalPath(bytes: [UInt8](String(number).utf8)), "", scan: scan)
      }
      for _ in 0..<2 { news.append(failures.note("/more", "", scan: scan)) }
      failures.scanEnded(1)
      news.append(failures.note("/more", "", scan: scan))
      failures.scanEnded(scan + 1)
    }
    #expect(news == [.tooMany, .known, .known, .tooMany, .known, .known])
  }
}
