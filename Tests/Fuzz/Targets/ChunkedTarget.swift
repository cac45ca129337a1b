/// A body in the chunked transfer coding.
enum ChunkedTarget {
  private struct Outcome: Equatable {
    var content: [UInt8] = []
    var consumed = 0
    var isFinished = false
    var error: ResponseError?
  }

  static func run(_ input: [UInt8]) {
    let whole = outcome(of: input, cut: .whole)
    for cut in [Cut.bytes, .halves] {
      require(outcome(of: input, cut: cut) == whole, "the body is another one in \(cut)")
    }
    let reference = reference(input)
    require(whole.isFinished == (reference != nil), "finished: \(whole.isFinished), but not by the grammar")
    if let reference { require(whole == reference, "another body than by the grammar") }
    let again = coded(whole.content)
    let expected = Outcome(content: whole.content, consumed: again.count, isFinished: true)
    require(outcome(of: again, cut: .halves) == expected, "content coded again is other content")
  }

  private static func outcome(of input: [UInt8], cut: Cut) -> Outcome {
    var decoder = ChunkedDecoder()
    var outcome = Outcome()
    do throws(ResponseError) {
      try input.deliver(cut) { (piece) throws(ResponseError) in
        if decoder.isFinished { return }
        outcome.consumed += try decoder.decode(piece) { outcome.content += $0 }
      }
    } catch { return Outcome(error: error) }
    outcome.isFinished = decoder.isFinished
    return outcome
  }

  /// Content in chunks of one, two, three … bytes.
  private static func coded(_ content: [UInt8]) -> [UInt8] {
    var coded: [UInt8] = []
    var rest = content[...]
    var length = 1
    while !rest.isEmpty {
      let chunk = rest.prefix(length)
      coded += Array((String(chunk.count, radix: 16) + "\r\n").utf8) + chunk + [0x0D, 0x0A]
      rest = rest.dropFirst(length)
      length += 1
    }
    return coded + Array("0\r\n\r\n".utf8)
  }

  // MARK: RFC 9112, 7.1, over the whole body at once

  /// nil if the input does not begin with a whole, valid body.
  private static func reference(_ input: [UInt8]) -> Outcome? {
    var rest = input[...]
    var content: [UInt8] = []
    while true {
      guard let line = takeLine(&rest, limit: Limits.chunkLineLength) else { return nil }
      let digits = line.prefix { isHex($0) }
      let behind = line.dropFirst(digits.count)
      guard (1...15).contains(digits.count), behind.isEmpty || " \t;".utf8.contains(behind[behind.startIndex]),
        let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      if size == 0 { break }
      guard rest.count >= size else { return nil }
      content += rest.prefix(size)
      rest = rest.dropFirst(size)
      guard takeLine(&rest, limit: 2)?.isEmpty == true else { return nil }
    }
    var room = Limits.trailerLength
    while true {
      let before = rest.count
      guard let line = takeLine(&rest, limit: room) else { return nil }
      room -= before - rest.count
      if line.isEmpty { break }
    }
    return Outcome(content: content, consumed: input.count - rest.count, isFinished: true)
  }

  /// A line that ends in LF or CR LF, and has neither CR nor NUL inside.
  private static func takeLine(_ rest: inout ArraySlice<UInt8>, limit: Int) -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: 0x0A), end - rest.startIndex < limit else { return nil }
    var line = rest[..<end]
    rest = rest[(end + 1)...]
    if line.last == 0x0D { line.removeLast() }
    return line.contains(0x0D) || line.contains(0) ? nil : line
  }

  private static func isHex(_ byte: UInt8) -> Bool { "0123456789abcdefABCDEF".utf8.contains(byte) }
}
