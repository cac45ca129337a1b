import Testing
import UploadCore

struct UploadedPartsTests {
  private let mib: Int64 = 1 << 20

  @Test(
    arguments: [
      (1, 8 << 20), (16 << 20, 8 << 20), (8000 << 20, 8 << 20), ((8000 << 20) + 1, 9 << 20),
      (5_000_000_000_000, 4769 << 20),
      (Limits.s3ObjectLength, 5 << 30),
    ] as [(Int64, Int64)])
  func thereAreNeverMoreThanAThousand(size: Int64, length: Int64) {
    let parts = UploadedParts(token: "t", ofSize: size)
    #expect(parts.length == length)
    #expect((1...Limits.partCount).contains(parts.count(in: size)))
    let last = parts.range(of: parts.count(in: size), in: size)
    #expect(last.length > 0 && last.offset + last.length == size)
  }

  @Test(
    arguments: [
      (16 << 20, 16 << 20), (512 << 20, 16 << 20), (1 << 30, 32 << 20), (2 << 30, 64 << 20), (60 << 30, 64 << 20),
      (100 << 30, 103 << 20),
    ] as [(Int64, Int64)])
  func aNextcloudGetsLongerOnes(size: Int64, length: Int64) {
    let parts = UploadedParts(token: "t", ofSize: size, .nextcloud)
    #expect(parts.length == length && parts.count(in: size) <= Limits.partCount)
  }

  @Test func missingPartsAreFound() {
    let size = 20 * mib
    var parts = UploadedParts(token: "t", ofSize: size)
    #expect(parts.firstMissing(in: size) == 1 && parts.end(in: size) == 0)
    parts.set("c", of: 3)
    #expect(parts.firstMissing(in: size) == 1 && parts.end(in: size) == size && parts.total(in: size) == 4 * mib)
    parts.set("a", of: 1)
    #expect(parts.firstMissing(in: size) == 2 && parts.beginning(of: size) == 8 * mib)
    parts.set("b", of: 2)
    #expect(parts.firstMissing(in: size) == nil && parts.beginning(of: size) == size && parts.total(in: size) == size)
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

  @Test func theLongestListFitsIntoARecord() throws {
    let size: Int64 = 5_000_000_000_000
    var parts = UploadedParts(token: String(repeating: "t", count: Limits.partTagLength), ofSize: size)
    for number in 1...parts.count(in: size) {
      parts.set(String(repeating: "e", count: Limits.partTagLength), of: number)
    }
    var record = UploadRecord.sample(identity(size: size))
    record.unfinished?.remote = RemoteUpload(url: "https://hive/bucket/a?uploadId=u", offset: size)
    record.unfinished?.parts = parts
    let bytes = record.encoded(crc32: crc32)
    #expect(bytes.count < 66_000 && bytes.count < Limits.recordLength)
    #expect(try UploadRecord(decoding: bytes, crc32: crc32) == record)
  }
}
