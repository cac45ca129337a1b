import Testing

@testable import Uploader

/// Digits of a run of zero bytes.
private func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

/// The coded texts were made with Python's zlib.
struct ContentCodingTests {
  private let gzip = hex("1f8b0800000000000203ab56ca4c51b232ac0500c5f85d4408000000")
  private let zlib = hex("78daab56ca4c51b232ac05000b4d0275")
  private let deflate = hex("ab56ca4c51b232ac0500")
  private let plain = bytes(#"{"id":1}"#)

  private func decoded(_ content: [UInt8], _ codings: String...) -> [UInt8]? {
    var response = Response(
      head: ResponseHead(status: 200, fields: codings.map { Field("Content-Encoding", $0) }))
    response.content = content
    return (try? ContentCoding.decodedContent(of: response)) ?? nil
  }

  /// The letter a 65,536 times, and once more. Each has a long run of zeros inside.
  private let gzip64KiB = hex("1f8b0800000000000203edc181000000008020d6fd2516a90a" + zeros(126) + "6aff9120c300000100")
  private let gzip64KiBAndOne = hex(
    "1f8b0800000000000203edc18100000000c320d6f94bfc205501" + zeros(124) + "c00d5f7176c501000100")
  private let deflate64KiBAndOne = hex("edc18100000000c320d6f94bfc205501" + zeros(124) + "c00d")

  @Test func everyAcceptedCodingIsDecoded() {
    #expect(decoded(gzip, "gzip") == plain)
    #expect(decoded(gzip, "X-GZip") == plain)
    #expect(decoded(zlib, "deflate") == plain)
    #expect(decoded(deflate, "deflate") == plain)
    #expect(decoded(gzip, "identity, gzip") == plain)
  }

  @Test func contentWithoutACodingStaysAsItIs() {
    #expect(decoded(plain) == plain)
    #expect(decoded(gzip) == gzip)
    #expect(decoded(plain, "identity") == plain)
    #expect(decoded([]) == [])
  }

  @Test func codingsThatWereNotAcceptedAreNotDecoded() {
    #expect(decoded(plain, "br") == nil)
    #expect(decoded(plain, "zstd") == nil)
    #expect(decoded(gzip, "gzip, gzip") == nil)
    #expect(decoded(gzip, "gzip", "br") == nil)
  }

  @Test func noContentIsEmptyInAnyCoding() {
    #expect(decoded([], "gzip") == [])
    // The coding of an empty text.
    #expect(decoded(hex("1f8b080000000000020303000000000000000000"), "gzip") == [])
  }

  @Test func cutContentIsNotDecoded() {
    for length in 1..<gzip.count { #expect(decoded(Array(gzip.prefix(length)), "gzip") == nil, "\(length)") }
    for length in 1..<zlib.count { #expect(decoded(Array(zlib.prefix(length)), "deflate") == nil, "\(length)") }
    for length in 1..<deflate.count { #expect(decoded(Array(deflate.prefix(length)), "deflate") == nil, "\(length)") }
  }

  @Test func damagedContentIsNotDecoded() {
    var checksum = gzip
    checksum[gzip.count - 5] ^= 1
    #expect(decoded(checksum, "gzip") == nil)
    var length = gzip
    length[gzip.count - 1] ^= 1
    #expect(decoded(length, "gzip") == nil)
    var adler = zlib
    adler[zlib.count - 1] ^= 1
    #expect(decoded(adler, "deflate") == nil)
    #expect(decoded(bytes("<html>"), "gzip") == nil)
  }

  @Test func contentThatDecodesToTheLimitIsTaken() {
    #expect(Limits.replyLength == 65_536)
    #expect(decoded(gzip64KiB, "gzip") == [UInt8](repeating: UInt8(ascii: "a"), count: 65_536))
  }

  @Test func aBombIsNotDecoded() {
    #expect(decoded(gzip64KiBAndOne, "gzip") == nil)
    #expect(decoded(deflate64KiBAndOne, "deflate") == nil)
  }
}
