/// How the end of a response's content is found (RFC 9112, 6.3).
package enum ResponseBodyFraming: Equatable, Sendable {
  case none
  /// Content-Length, in bytes.
  case length(Int64)
  case chunked
  /// The content ends where the connection does.
  case untilClose

  /// The framing of a final response.
  /// - Parameter requestMethod: a response to HEAD, or a success to CONNECT, has no content whatever its fields say.
  package init(of head: ResponseHead, requestMethod: String) throws(ResponseError) {
    let isTunnel = requestMethod == "CONNECT" && head.status < 300
    if requestMethod == "HEAD" || isTunnel || head.status == 204 || head.status == 304 {
      self = .none
      return
    }
    // "identity" means no coding. It is from RFC 2616.
    let codings = head.fields.listMembers(of: "Transfer-Encoding").filter { $0 != "identity" }
    if !codings.isEmpty {
      guard codings == ["chunked"] else { throw .unsupportedTransferEncoding }
      self = .chunked
      return
    }
    var length: Int64?
    for value in head.fields.values(of: "Content-Length") {
      // A proxy turns repeated fields into a list of equal numbers.
      for element in Array(value.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let number = ASCII.decimal(ASCII.trimmed(element)), length == nil || length == number else {
          throw .invalidContentLength
        }
        length = number
      }
    }
    self = length.map { .length($0) } ?? .untilClose
  }
}

/// Decodes the chunked transfer coding (RFC 9112, 7.1). Chunk extensions and trailer fields are parsed and dropped.
package struct ChunkedDecoder: Equatable, Sendable {
  private enum State: Equatable {
    /// In a chunk-size line. `length` is the length of the line, `digits` the number of digits so far.
    case sizeLine(size: Int64, digits: Int, length: Int, part: SizeLinePart)
    case data(left: Int64)
    /// After a chunk's data: CR LF, or LF alone.
    case dataEnd(sawCarriageReturn: Bool)
    /// In the trailer section. `lineLength` is the length of the current line, without its end.
    case trailer(length: Int, lineLength: Int, sawCarriageReturn: Bool)
    case finished
  }

  private enum SizeLinePart { case number, extensions, lineEnd }

  private static let atSizeLine = State.sizeLine(size: 0, digits: 0, length: 0, part: .number)
  private var state = ChunkedDecoder.atSizeLine

  package init() {}

  package var isFinished: Bool { state == .finished }

  /// Decodes `input` and passes each run of content to `content`.
  /// - Returns: how many bytes of the input belong to this body; all of them until it is finished.
  package mutating func decode(
    _ input: UnsafeRawBufferPointer, content: (UnsafeRawBufferPointer) -> Void
  ) throws(ResponseError) -> Int {
    var index = 0
    while index < input.count {
      var count = 1
      switch state {
      case .sizeLine(let size, let digits, let length, let part):
        try stepSizeLine(input[index], size: size, digits: digits, length: length + 1, part: part)
      case .data(let left):
        count = Int(min(left, Int64(input.count - index)))
        content(UnsafeRawBufferPointer(rebasing: input[index..<(index + count)]))
        state = left == Int64(count) ? .dataEnd(sawCarriageReturn: false) : .data(left: left - Int64(count))
      case .dataEnd(let sawCarriageReturn):
        try stepDataEnd(input[index], sawCarriageReturn: sawCarriageReturn)
      case .trailer(let length, let lineLength, let sawCarriageReturn):
        try stepTrailer(input[index], length: length + 1, lineLength: lineLength, sawCarriageReturn: sawCarriageReturn)
      case .finished: return index
      }
      index += count
    }
    return index
  }

  private mutating func stepDataEnd(_ byte: UInt8, sawCarriageReturn: Bool) throws(ResponseError) {
    if byte == ASCII.lineFeed {
      state = ChunkedDecoder.atSizeLine
    } else if byte == ASCII.carriageReturn, !sawCarriageReturn {
      state = .dataEnd(sawCarriageReturn: true)
    } else {
      throw .invalidChunk
    }
  }

  private mutating func stepSizeLine(
    _ byte: UInt8, size: Int64, digits: Int, length: Int, part: SizeLinePart
  ) throws(ResponseError) {
    guard length <= Limits.chunkLineLength else { throw .invalidChunk }
    if byte == ASCII.lineFeed {
      guard digits > 0 else { throw .invalidChunk }
      state = size > 0 ? .data(left: size) : .trailer(length: 0, lineLength: 0, sawCarriageReturn: false)
    } else if part == .number, let digit = ASCII.hexValue(byte) {
      guard digits < 15 else { throw .invalidChunk }  // 15 digits are below 2^60
      state = .sizeLine(size: size << 4 | Int64(digit), digits: digits + 1, length: length, part: .number)
    } else {
      state = .sizeLine(size: size, digits: digits, length: length, part: try partAfterNumber(byte, digits, part))
    }
  }

  /// The rest of the line after the number: extensions, which servers also use as padding, then the line end.
  private func partAfterNumber(_ byte: UInt8, _ digits: Int, _ part: SizeLinePart) throws(ResponseError) -> SizeLinePart
  {
    guard digits > 0, part != .lineEnd, byte != 0 else { throw .invalidChunk }
    if byte == ASCII.carriageReturn { return .lineEnd }
    let beginsExtension = byte == ASCII.semicolon || byte == ASCII.space || byte == ASCII.tab
    guard part == .extensions || beginsExtension else { throw .invalidChunk }
    return .extensions
  }

  private mutating func stepTrailer(
    _ byte: UInt8, length: Int, lineLength: Int, sawCarriageReturn: Bool
  ) throws(ResponseError) {
    guard length <= Limits.trailerLength else { throw .trailerTooLong(limit: Limits.trailerLength) }
    if byte == ASCII.lineFeed {
      state = lineLength == 0 ? .finished : .trailer(length: length, lineLength: 0, sawCarriageReturn: false)
    } else if sawCarriageReturn || byte == 0 {
      throw .invalidField
    } else if byte == ASCII.carriageReturn {
      state = .trailer(length: length, lineLength: lineLength, sawCarriageReturn: true)
    } else {
      state = .trailer(length: length, lineLength: lineLength + 1, sawCarriageReturn: false)
    }
  }
}

extension Limits {
  /// A chunk-size line with its extensions, in bytes.
  package static let chunkLineLength = 1024
  /// The trailer section of a chunked body, in bytes.
  package static let trailerLength = 8 << 10
}
