import Testing
import UploadCore

struct UploadedPartsTests {
  private let mib: Int64 = 1 << 20

  @Test(
    arguments: [
      (1, 8 << 20, 1), (16 << 20, 8 << 20, 2), (4800 << 20, 8 << 20, 600), ((4800 << 20) + 1, 9 << 20, 534),
      (600 * 5 << 30, 5 << 30, 600), (5_000_000_000_000, 5 << 30, 932), (Limits.s3ObjectLength, 5 << 30, 1000),
    ] as [(Int64, Int64, Int)])
  func thereAreSixHundredOrAThousandOfTheLongest(size: Int64, length: Int64, count: Int) {
    let parts = UploadedParts(token: "t", ofSize: size)
    #expect(parts.length == length && parts.count(in: size) == count)
    let last = parts.range(of: parts.count(in: size), in: size)
    #expect(last.length > 0 && last.offset + last.length == size)
  }

  @Test func theirListTakes64KiB() {
    let size: Int64 = 600 * 5 << 30
    var record = UploadRecord.sample(identity(size: size))
    var parts = UploadedParts(token: "t", ofSize: size)
    let (tag, digest) = (String(repeating: "a", count: 32), String(repeating: "d", count: 64))
    for number in 1...parts.count(in: size) { parts.set(tag, of: number, sha256: digest) }
    record.unfinished?.parts = parts
    #expect((60_000...65_536).contains(record.encoded(crc32: { _ in 0 }).count))
  }

  @Test(
    arguments: [
      (16 << 20, 16 << 20), (512 << 20, 16 << 20), (1 << 30, 32 << 20), (2 << 30, 64 << 20), (60 << 30, 64 << 20),
      (100 << 30, 103 << 20),
    ] as [(Int64, Int64)])
  func aNextcloudGetsLongerOnes(size: Int64, length: Int64) {
    let parts = UploadedParts(token: "t", ofSize: size, .nextcloud, hasDigests: false)
    #expect(parts.length == length && parts.count(in: size) <= Limits.partCount)
  }

  @Test func missingPartsAreFound() {
    let size = 20 * mib
    var parts = UploadedParts(token: "t", ofSize: size)
    #expect(parts.firstMissing(in: size) == 1 && parts.end(in: size) == 0)
    parts.set("c", of: 3)
    #expect(parts.firstMissing(in: size) == 1 && parts.end(in: size) == size && parts.total(in: size) == 4 * mib)
    parts.set("a", of: 1)
    #expect(parts.firstMissing(in: size) == 2)
    parts.set("b", of: 2)
    #expect(parts.firstMissing(in: size) == nil && parts.total(in: size) == size)
    parts.set(nil, of: 3)
    #expect(parts.firstMissing(in: size) == 3 && parts.end(in: size) == 16 * mib)
  }

  @Test(
    arguments: [
      ("", 8 << 20, ["a"]), ("t", 0, ["a"]), ("t", -1, []), ("t", 1, []), ("t", 8 << 20, ["a", "b", "c", "d"]),
      ("t", 8 << 20, ["a b"]), ("t", 8 << 20, ["<"]), ("t", 8 << 20, [String(repeating: "a", count: 61)]),
    ] as [(String, Int64, [String])])
  func malformedPartsAreNotRead(token: String, length: Int64, tags: [String]) {
    #expect(UploadedParts(token: token, length: length, tags: tags, ofSize: 20 * mib) == nil)
  }

  @Test(arguments: [
    (1, 0, 8), (2, 8, 8), (100, 792, 8), (101, 800, 16), (200, 2384, 16), (201, 2400, 32), (1000, 814_304, 4096),
  ])
  func partsOfWhatGrowsBecomeLonger(number: Int, offset: Int64, length: Int64) {
    let range = UploadedParts(growing: "t").range(of: number, in: .max)
    #expect(range.offset == offset * mib && range.length == length * mib)
  }

  @Test(
    arguments: [
      (1, 1), (8 << 20, 1), ((8 << 20) + 1, 2), (800 << 20, 100), ((800 << 20) + 1, 101), ((816 << 20) + 1, 102),
      (818_400 << 20, 1000), (.max, 1000),
    ] as [(Int64, Int)])
  func theyAreCounted(size: Int64, count: Int) {
    #expect(UploadedParts(growing: "t").count(in: size) == count)
  }

  @Test func theFirstOfThemIsSentLast() {
    let size = 28 * mib
    var parts = UploadedParts(growing: "t")
    for (next, offset) in [(2, 8), (3, 16), (4, 24), (1, 0)] as [(Int, Int64)] {
      #expect(parts.nextMissing(in: size) == next && parts.range(of: next, in: size).offset == offset * mib)
      #expect(!parts.has(next) && parts.sha256(of: next) == nil)
      parts.set("a", of: next, sha256: "d\(next)")
      #expect(parts.has(next) && parts.sha256(of: next) == "d\(next)")
    }
    #expect(parts.nextMissing(in: size) == nil && parts.total(in: size) == size)
    parts.set(nil, of: 3)
    #expect(parts.nextMissing(in: size) == 3 && parts.sha256(of: 3) == nil && parts.total(in: size) == 20 * mib)
    #expect(parts.fit(size) && !parts.fit(24 * mib) && !parts.fit((818_400 << 20) + 1))
  }

  @Test(
    arguments: [
      (8 << 20, ["a"], []), (8 << 20, ["a"], ["d"]), (8 << 20, [], ["d"]),
      (8 << 20, ["a"], [String(repeating: "g", count: 64)]),
      (16 << 20, ["a"], [String(repeating: "d", count: 64)]),
      (8 << 20, [String](repeating: "", count: 1001), [String](repeating: "", count: 1001)),
    ] as [(Int64, [String], [String])])
  func malformedDigestsAreNotRead(length: Int64, tags: [String], digests: [String]) {
    for step in [Limits.growingPartsStep, nil] where step != nil || digests != [String(repeating: "d", count: 64)] {
      let parts = UploadedParts(
        token: "t", length: length, tags: tags, digests: digests, step: step, ofSize: 20 * mib)
      #expect(parts == nil)
    }
  }

  @Test(
    arguments: [(0, []), (101, []), (10, [0]), (10, [2, 1]), (10, [4]), (10, [Int.min]), (10, [2, 2, 2, 2])]
      as [(Int, [Int])])
  func malformedStepsAndBeginningsAreNotRead(step: Int, begun: [Int]) {
    let digest = String(repeating: "d", count: 64)
    func parts(_ step: Int?, _ begun: [Int], _ digests: [String]? = ["", digest, digest]) -> UploadedParts? {
      UploadedParts(
        token: "t", length: 8 * mib, tags: ["", "/files/2", "/files/3"], digests: digests, step: step, begun: begun,
        ofSize: 24 * mib)
    }
    #expect(parts(step, begun) == nil && parts(10, [2, 3]) != nil)
    #expect(parts(nil, [2], nil) == nil && parts(10, [], nil) == nil && parts(nil, [], nil) != nil)
  }

  @Test func aPartThatIsBegunIsMissingUntilItIsWhole() throws {
    var parts = UploadedParts(growing: "t", step: Limits.growingUploadsStep)
    let digest = String(repeating: "d", count: 64)
    parts.set("/files/2", of: 2, sha256: digest)
    parts.set("/files/3", of: 3, sha256: digest, isWhole: false)
    #expect(parts.nextMissing(in: 24 * mib) == 3 && parts.total(in: 24 * mib) == 8 * mib)
    #expect(parts.tag(of: 3) == "/files/3" && !parts.has(3) && parts.sha256(of: 3) == digest)
    var record = UploadRecord.sample(identity(size: 24 * mib))
    record.unfinished?.parts = parts
    #expect(try UploadRecord(decoding: record.encoded(crc32: crc32), crc32: crc32) == record)
    #expect(record.offset == 8 * mib)
    parts.set("/files/4", of: 2, sha256: digest, isWhole: false)
    #expect(parts.tag(of: 3) == "/files/3" && parts.begun == [3, 2] && parts.nextMissing(in: 24 * mib) == 2)
    #expect(
      parts.nextMissing(in: 24 * mib, besides: { $0 == 2 }) == 3
        && parts.nextMissing(in: 24 * mib, besides: { [2, 3].contains($0) }) == 1)
    parts.set("/files/4", of: 2, sha256: digest)
    parts.set(nil, of: 3)
    #expect(parts.begun.isEmpty && parts.has(2))
    let endpoint = try TargetURI("https://hive/files/")
    #expect(parts.uploads(createdAt: endpoint).map(\.text) == ["https://hive/files/4"])
  }

  @Test func partsInOrderAreOneUpload() throws {
    var parts = UploadedParts(growing: "t", step: Limits.growingUploadsStep, areInOrder: true)
    let digest = String(repeating: "d", count: 64)
    #expect(parts.nextMissing(in: UploadedParts.unknownSize) == 1)
    parts.set("/files/1", of: 1, sha256: digest)
    parts.set("/files/1", of: 2, sha256: digest, isWhole: false)
    #expect(parts.nextMissing(in: UploadedParts.unknownSize) == 2)
    #expect(parts.uploads(createdAt: try TargetURI("https://hive/files/")).map(\.text) == ["https://hive/files/1"])
    var record = UploadRecord.sample(identity(size: 24 * mib))
    record.unfinished?.parts = parts
    #expect(try UploadRecord(decoding: record.encoded(crc32: crc32), crc32: crc32) == record)
    #expect(UploadedParts(token: "t", length: 8 * mib, tags: ["a"], areInOrder: true, ofSize: mib) == nil)
  }

  @Test func aHundredUploadsHold80GiB() {
    let parts = UploadedParts(growing: "t", step: Limits.growingUploadsStep)
    let most = 81_840 * mib
    #expect(parts.fit(most) && !parts.fit(most + 1))
    #expect(parts.count(in: most) == 100)
    // The rest of those in order is sent when the recording has ended.
    let inOrder = UploadedParts(growing: "t", step: Limits.growingUploadsStep, areInOrder: true)
    #expect(inOrder.fit(most + 1) && inOrder.count(in: most + 1) == 100)
  }

  @Test(arguments: [false, true])
  func theLongestListFitsIntoARecord(isGrowing: Bool) throws {
    let size: Int64 = isGrowing ? 818_400 << 20 : 5_000_000_000_000
    let token = String(repeating: "t", count: Limits.partTagLength)
    var parts = isGrowing ? UploadedParts(growing: token) : UploadedParts(token: token, ofSize: size)
    for number in 1...parts.count(in: size) {
      parts.set(
        String(repeating: "e", count: Limits.partTagLength), of: number, sha256: String(repeating: "d", count: 64))
    }
    // What is sent while it is made is larger than it was when the record began.
    var record = UploadRecord.sample(identity(size: isGrowing ? 7 : size))
    record.unfinished?.remote = RemoteUpload(url: "https://hive/bucket/a?uploadId=u", offset: size)
    record.unfinished?.parts = parts
    let bytes = record.encoded(crc32: crc32)
    #expect(bytes.count < 133_000 && bytes.count < Limits.recordLength)
    #expect(try UploadRecord(decoding: bytes, crc32: crc32) == record)
    #expect(record.size == size)
  }
}
