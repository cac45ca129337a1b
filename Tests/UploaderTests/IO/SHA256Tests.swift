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

struct SHA256Tests {
  @Test func theVectorsOfTheStandardHold() {
    for (text, digest) in vectors { #expect(sha256(bytes(text)) == digest) }
  }

  @Test(arguments: [1, 63, 64, 65])
  func theCutsBetweenUpdatesDoNotCount(length: Int) throws {
    for (text, digest) in vectors.prefix(4) {
      let context = try SHA256()
      var rest = bytes(text)[...]
      while !rest.isEmpty {
        Array(rest.prefix(length)).withUnsafeBytes { context.update($0) }
        rest = rest.dropFirst(length)
      }
      #expect(context.finish() == digest)
    }
  }
}
