import Testing
import UploadCore

/// The result of decoding some bytes.
private struct Decoding: Equatable {
  var content = ""
  var consumed = 0
  var isFinished = false
  var error: ResponseError?
}

private func decoding(of delivery: Delivery) -> Decoding {
  var decoder = ChunkedDecoder()
  var result = Decoding()
  do throws(ResponseError) {
    try delivery.each { (piece) throws(ResponseError) in
      guard !decoder.isFinished else { return }
      result.consumed += try decoder.decode(piece) { result.content += String(decoding: $0, as: UTF8.self) }
    }
  } catch { return Decoding(error: error) }
  result.isFinished = decoder.isFinished
  return result
}

private func decoding(of text: String) -> Decoding {
  let sample = bytes(text)
  return decoding(of: Delivery(pieces: [sample[...]], page: GuardPage(room: sample.count)))
}

struct ChunkedDecoderTests {
  @Test(arguments: [
    ("0\r\n\r\n", ""), ("3\r\nabc\r\n0\r\n\r\n", "abc"), ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
    ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("0A\r\n0123456789\r\n00\r\n\r\n", "0123456789"),
    ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"), ("3\r\n0\r\n\r\n0\r\n\r\n", "0\r\n"),
  ])
  func chunksAreJoined(coded: String, content: String) {
    let expected = Decoding(content: content, consumed: coded.utf8.count, isFinished: true)
    EverySplit.expect(expected, from: bytes(coded)) { decoding(of: $0) }
  }

  @Test(arguments: [
    "1;a\r\nx\r\n0\r\n\r\n", "1;a=b\r\nx\r\n0;c=\"d;e\\\"\"\r\n\r\n", "1 ; a = b\r\nx\r\n0\r\n\r\n",
    "1 \r\nx\r\n0\t\r\n\r\n", "1;0\r\nx\r\n0;ffff\r\n\r\n", "1\r\nx\r\n0\r\nA: b\r\n\r\n",
    "1\r\nx\r\n0\r\nA: b\r\nC:\r\nD: e\r\n\r\n",
    // Lines may end in a line feed alone.
    "1\nx\n0\nA: b\n\n",
  ])
  func extensionsAndTrailersAreDropped(coded: String) {
    let expected = Decoding(content: "x", consumed: coded.utf8.count, isFinished: true)
    EverySplit.expect(expected, from: bytes(coded)) { decoding(of: $0) }
  }

  @Test(arguments: [
    "", "3", "3\r", "3\r\n", "3\r\nab", "3\r\nabc", "3\r\nabc\r", "3\r\nabc\r\n", "3\r\nabc\r\n0", "3\r\nabc\r\n0\r\n",
    "3\r\nabc\r\n0\r\n\r", "3\r\nabc\r\n0\r\nA: b\r\n",
  ])
  func aBodyThatEndsEarlyIsNotFinished(coded: String) {
    let result = decoding(of: coded)
    #expect(result.error == nil && !result.isFinished && result.consumed == coded.utf8.count)
    #expect("abc".hasPrefix(result.content))
  }

  @Test(arguments: [
    "\r\n", "\n", ";a\r\n", " 1\r\nx", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", "1g\r\n", "1,\r\n", "1\rx", "1\r\r\n",
    "1\0\r\n", "1;\0\r\n", "1;a\rb\r\n", "1\r\nxy", "1\r\nx\rA", "1\r\nx\r\r\n", "1\r\nx0\r\n", "1\r\nx\r\n\r\n",
    "\t1\r\n",
  ])
  func aBrokenChunkIsAnErrorHoweverItArrives(coded: String) {
    EverySplit.expect(Decoding(error: .invalidChunk), from: bytes(coded)) { decoding(of: $0) }
  }

  @Test(arguments: ["0\r\nA: b\rc\r\n\r\n", "0\r\nA: \0\r\n\r\n", "0\r\n\rA: b\r\n\r\n"])
  func aBrokenTrailerIsAnErrorHoweverItArrives(coded: String) {
    EverySplit.expect(Decoding(error: .invalidField), from: bytes(coded)) { decoding(of: $0) }
  }

  @Test(arguments: ["10000000000000000", "ffffffffffffffff", "8000000000000000", "100000000000000000000000000000005"])
  func aSizeThatOverflowsIsAnError(size: String) {
    #expect(decoding(of: size + "\r\nhello").error == .invalidChunk)
  }

  @Test func aHugeChunkIsHandedOnAsItComes() {
    #expect(decoding(of: "7fffffffffffff\r\nhello") == Decoding(content: "hello", consumed: 21))
  }

  @Test func aChunkLineAtTheLimitIsTakenAndALongerOneIsNot() {
    // "1;" and CR LF are 4 bytes of the line.
    let longest = "1;" + filler(Limits.chunkLineLength - 4) + "\r\n"
    #expect(longest.utf8.count == 1024)
    #expect(decoding(of: longest + "x\r\n0\r\n\r\n").isFinished)
    #expect(decoding(of: "1;a" + longest.dropFirst(2) + "x").error == .invalidChunk)
  }

  @Test func everyChunkLineHasTheLimitForItself() {
    let line = "1;" + filler(1000) + "\r\nx\r\n"
    let coded = String(repeating: line, count: 5) + "0\r\n\r\n"
    #expect(decoding(of: coded) == Decoding(content: "xxxxx", consumed: coded.utf8.count, isFinished: true))
  }

  @Test func aTrailerSectionAtTheLimitIsTakenAndALongerOneIsNot() {
    // "X: ", its CR LF and the closing CR LF are 7 bytes of the section.
    func coded(_ length: Int) -> String { "0\r\nX: " + filler(length) + "\r\n\r\n" }
    let longest = Limits.trailerLength - 7
    #expect(decoding(of: coded(longest)).isFinished)
    #expect(decoding(of: coded(longest + 1)).error == .trailerTooLong(limit: 8 << 10))
    #expect(decoding(of: "0\r\n" + String(repeating: "a:\r\n", count: 5000)).error == .trailerTooLong(limit: 8 << 10))
  }
}
