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

  @Test mutating func directoriesAreFoundByTheirNumbersInAnyOrderOfAdding() {
    for number in [Int32](1...50).shuffled() { _ = table.add(number, owner: Int(number), path: "/rec", scan: 0) }
    for number in 1...50 { #expect(owners(Int32(number)) == [number]) }
  }

  @Test mutating func theyAreBoundedButAnotherOwnerNeedsNoRoom() {
    let last = Int32(Limits.watchedDirectoryCount)
    for number in 1...last { _ = table.add(number, owner: 0, path: "/rec", scan: 0) }
    let isAdded = [last + 1, last].map { table.add($0, owner: 1, path: "/rec", scan: 0) }
    #expect(isAdded == [false, true])
  }
}
