import Testing
import UploadCore

struct ExistingFilesTests {
  private static func keys(_ count: Int) -> [UInt64] {
    (1..<(count + 1)).map { UInt64($0) &* 0x9e37_79b9_7f4a_7c15 &+ UInt64($0 * $0) << 20 }.sorted()
  }

  @Test(arguments: [0, 1, 63, 64, 65, 1000, 100_000])
  func eachIsFoundAndNoOther(count: Int) throws {
    let keys = ExistingFilesTests.keys(count)
    let existing = ExistingFiles(keys, unread: [])
    for key in keys.prefix(500) + keys.suffix(500) {
      var reads = 0
      let isThere = existing.contains(key) {
        reads += 1
        return Array(keys[$0])
      }
      #expect(isThere == true && reads <= 8)
      #expect(existing.contains(key ^ 1) { Array(keys[$0]) } == false)
    }
    for key in [UInt64.min, .max] { #expect(existing.contains(key) { Array(keys[$0]) } == false) }
  }

  /// The worst case for an estimate.
  @Test func keysThatAreNotSpreadAreFoundToo() {
    let keys = (0..<500).map { UInt64($0) } + (0..<500).map { UInt64.max - 999 + UInt64($0) }
    let existing = ExistingFiles(keys, unread: [])
    for key in keys { #expect(existing.contains(key) { Array(keys[$0]) } == true) }
    #expect(existing.contains(700) { Array(keys[$0]) } == false)
  }

  @Test func filesOfADamagedListAreNotKnown() {
    #expect(ExistingFiles([1], unread: []).contains(1) { _ in nil } == nil)
  }

  @Test func aFileOfAnotherLengthOrContentIsNotWhole() throws {
    let existing = ExistingFiles([1, 5], unread: [9])
    let length = Int64(ExistingFiles.headerLength + 24)
    let read = try #require(ExistingFiles(header: existing.header, fileLength: length))
    #expect(read == existing && read.count == 2 && read.unreadCount == 1)
    #expect(read.isWhole(ExistingFiles.sum([1, 5, 9])) && !read.isWhole(ExistingFiles.sum([1, 9, 5])))
    #expect(ExistingFiles(header: existing.header, fileLength: length - 8) == nil)
    #expect(ExistingFiles(header: bytes("1795000000"), fileLength: 10) == nil)
    #expect(ExistingFiles(header: [UInt8](repeating: 0, count: ExistingFiles.headerLength), fileLength: 32) == nil)
  }
}
