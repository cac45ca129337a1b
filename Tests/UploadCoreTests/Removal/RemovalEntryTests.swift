import Testing
import UploadCore

struct RemovalEntryTests {
  private static let entries = [
    RemovalEntry(id: "5e1f0a77", path: "/srv/rec/gig.mp4", fileSystem: FileSystem(device: 2049, id: 1 << 60)),
    RemovalEntry(
      id: "00000001", path: LocalPath(bytes: bytes("/caf") + [0xe9, 0x0a, 0x22]),
      fileSystem: FileSystem(device: .max, id: nil)),
  ]

  private static func sum(_ content: [UInt8]) -> UInt32 {
    content.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  private func read(_ content: [UInt8]) -> [RemovalEntry] {
    RemovalEntry.entries(in: content, crc32: RemovalEntryTests.sum)
  }

  private static let content = entries.flatMap { [ASCII.lineFeed] + $0.encoded(crc32: sum) }

  @Test func aListThatWasWrittenIsReadAgain() {
    #expect(read(RemovalEntryTests.content) == RemovalEntryTests.entries)
    #expect(read([]) == [])
    let line = String(decoding: RemovalEntryTests.entries[0].encoded(crc32: { _ in 0x1c29_1ca3 }), as: UTF8.self)
    #expect(
      line
        == #"1c291ca3 {"id":"5e1f0a77","file":"/srv/rec/gig.mp4","device":"2049","file_system":"1152921504606846976"}"#
        + "\n")
  }

  /// A power cut can leave any part of the last line, and a new one may follow.
  @Test func aTornLineIsNone() {
    let (first, second) = (
      RemovalEntryTests.entries[0].encoded(crc32: RemovalEntryTests.sum),
      RemovalEntryTests.entries[1].encoded(crc32: RemovalEntryTests.sum)
    )
    for length in 0..<(second.count - 1) {
      let torn = Array(second[..<length])
      #expect(read(first + torn) == [RemovalEntryTests.entries[0]])
      #expect(read(torn + [ASCII.lineFeed] + first) == [RemovalEntryTests.entries[0]])
    }
  }

  @Test func aChangedByteMakesItNone() {
    let line = RemovalEntryTests.entries[0].encoded(crc32: RemovalEntryTests.sum)
    for index in 0..<(line.count - 1) {
      var changed = line
      changed[index] ^= 1
      #expect(read(changed) == [], "\(index)")
    }
    #expect(read(line.dropLast() + [ASCII.space] + [ASCII.lineFeed]) == [])
  }

  @Test func onlyARecordsAbsolutePathCounts() {
    for json in [
      "{}", "null", #"{"id":"5e1f0a77","file":"gig.mp4","device":"1"}"#, #"{"id":"5e1f0a7","file":"/a","device":"1"}"#,
      #"{"id":"../../..","file":"/a","device":"1"}"#, #"{"id":"5e1f0a77","file":"/a%00b","device":"1"}"#,
      #"{"id":"5e1f0a77","file":"/a","device":"-1"}"#, #"{"id":"5e1f0a77","device":"1"}"#,
    ] {
      var sum = String(RemovalEntryTests.sum(bytes(json)), radix: 16)
      sum = String(repeating: "0", count: 8 - sum.count) + sum
      #expect(read(bytes(sum + " " + json + "\n")) == [], "\(json)")
    }
  }

  @Test func theOtherNameIsInTheSameDirectoryAndHidden() {
    #expect(RemovalEntryTests.entries[0].privatePath == "/srv/rec/.gighive-upload-5e1f0a77")
    let atRoot = RemovalEntry(id: "5e1f0a77", path: "/gig.mp4", fileSystem: FileSystem(device: 1, id: nil))
    #expect(atRoot.privatePath == "/.gighive-upload-5e1f0a77")
  }

  @Test(arguments: [
    ("/rec/gig.mp4", "/rec/gig.7.mp4"), ("/rec/gig", "/rec/gig.7"), ("/rec/.gig", "/rec/.gig.7"),
    ("/rec.d/gig", "/rec.d/gig.7"), ("gig.tar.gz", "gig.tar.7.gz"), ("/rec/gig.", "/rec/gig.7."),
  ])
  func aNumberStandsBeforeTheEnding(path: String, numbered: String) {
    #expect(LocalPath(path).numbered(7) == LocalPath(numbered))
    #expect(LocalPath(path).numbered(0) == LocalPath(path))
  }
}
