import Testing

@testable import Uploader

/// The examples of FIPS 180-4 (NIST, "SHA256.pdf").
private let vectors = [
  ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  (
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  ),
  (
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
  ),
  (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
]

struct DigestTests {
  @Test func theVectorsOfTheStandardHold() {
    for (text, digest) in vectors { #expect(sha256(bytes(text)) == digest) }
  }

  @Test(arguments: [1, 63, 64, 65])
  func theCutsBetweenUpdatesDoNotCount(length: Int) throws {
    for (text, digest) in vectors.prefix(4) {
      let context = try Digest(.sha256)
      var rest = bytes(text)[...]
      while !rest.isEmpty {
        Array(rest.prefix(length)).withUnsafeBytes { context.update($0) }
        rest = rest.dropFirst(length)
      }
      #expect(try context.finishInHex() == digest)
    }
  }

  /// FIPS 180-4's example for SHA-1.
  @Test func sha1IsThereForServersThatCheckEachRequest() throws {
    let context = try Digest(.sha1)
    bytes("abc").withUnsafeBytes { context.update($0) }
    #expect(try context.finishInHex() == "a9993e364706816aba3e25717850c26c9cd0d89d")
  }
}

struct FileDigestTests {
  private let content = recording(1000)
  private func update(_ digest: FileDigest, _ range: Range<Int>) {
    content[range].withUnsafeBytes { digest.update($0, at: Int64(range.lowerBound)) }
  }

  @Test func bytesThatComeTwiceCountOnce() throws {
    let digest = try FileDigest()
    for range in [0..<400, 200..<400, 100..<700, 0..<1000] { update(digest, range) }
    #expect(digest.position == 1000)
    #expect(try digest.finish() == sha256(content))
  }

  @Test func bytesAfterAGapDoNotCountUntilItIsFilled() throws {
    let digest = try FileDigest()
    update(digest, 500..<1000)
    #expect(digest.position == 0)
    update(digest, 0..<500)
    #expect(digest.position == 500)
    update(digest, 500..<1000)
    #expect(try digest.finish() == sha256(content))
  }

  @Test func theDigestsResultStaysTheSame() throws {
    let digest = try FileDigest()
    update(digest, 0..<1000)
    let first = try digest.finish()
    #expect(try digest.finish() == first)
  }
}
