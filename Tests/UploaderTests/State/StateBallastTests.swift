import Glibc
import Testing

@testable import Uploader

/// What is reserved for removals. On disks that are full: CLITests `test_full_removals.py`.
struct StateBallastTests {
  private let bench = StateBench()
  private let parts = (0..<8).map { "ballast.\($0)" }
  private var whole: [String] { parts + ["removals", "spare.lock"] }

  private func status(of name: String) -> stat {
    var status = stat()
    _ = stat(bench.path + "/" + name, &status)
    return status
  }

  @Test func theBallastHoldsBlocksAndInodes() throws {
    try bench.open().reserveForRemovals(in: LocalPath(bench.directory.path))
    #expect(bench.names == whole)
    let allocated = parts.map { Int(status(of: $0).st_blocks) * 512 }
    #expect(allocated.reduce(0, +) >= 512 << 10 && !allocated.contains(0))
  }

  @Test func noBallastIsMadeWithoutRecords() {
    StateDirectory.reserveForRemovals(at: LocalPath(bench.path), in: LocalPath(bench.directory.path))
    #expect(access(bench.path, F_OK) != 0)
  }

  @Test(arguments: [ENOSPC, EDQUOT])
  func aCallThatLacksSpaceIsRepeatedOnceWithoutTheBallast(error: Int32) throws {
    let directory = try bench.open()
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    var seen: [[String]] = []
    let result = directory.withBallast {
      seen.append(bench.names)
      return -error
    }
    #expect(result == -error && seen == [whole, ["removals", "spare.lock"]])
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    #expect(bench.names == whole)
  }

  @Test func ballastThatAPowerCutDamagedIsMadeWhole() throws {
    let directory = try bench.open()
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    for part in parts.dropLast() { unlink(bench.path + "/" + part) }
    bench.put([], at: parts[7])
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    #expect(parts.allSatisfy { status(of: $0).st_size == 64 << 10 })
  }

  @Test func otherFailuresLeaveTheBallast() throws {
    let directory = try bench.open()
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    var count = 0
    let result = directory.withBallast {
      count += 1
      return -EIO
    }
    #expect(result == -EIO && count == 1 && bench.names == whole)
  }

  @Test func theSpareLockReplacesNoOther() throws {
    let directory = try bench.open()
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    let lock = directory.file("5e1f0a77.lock")
    let inode = bench.inode(of: "spare.lock")
    #expect(directory.takeSpareLock(as: lock))
    #expect(bench.inode(of: "5e1f0a77.lock") == inode && !bench.names.contains("spare.lock"))
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    #expect(!directory.takeSpareLock(as: lock))
    #expect(bench.inode(of: "5e1f0a77.lock") == inode && bench.names.contains("spare.lock"))
  }

  @Test func anEntryOfTheJournalTakesNoMoreSpace() throws {
    let directory = try bench.open()
    directory.reserveForRemovals(in: LocalPath(bench.directory.path))
    let before = status(of: "removals")
    #expect(before.st_size == 4096 && before.st_blocks > 0 && !RemovalJournal.hasEntries(in: LocalPath(bench.path)))
    let journal = try #require(try RemovalJournal.open(in: directory))
    try journal.begin(
      RemovalEntry(id: "5e1f0a77", path: "/rec/gig.mp4", fileSystem: FileSystem(device: 1, id: nil)))
    let after = status(of: "removals")
    #expect(after.st_size == before.st_size && after.st_ino == before.st_ino && after.st_blocks == before.st_blocks)
    #expect(RemovalJournal.hasEntries(in: LocalPath(bench.path)))
    journal.end()
    #expect(!RemovalJournal.hasEntries(in: LocalPath(bench.path)) && status(of: "removals").st_size == 4096)
  }
}
