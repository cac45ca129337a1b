/// Collects the bytes of a response's head until it is complete: of those of interim responses, then of the final one.
/// ``ResponseHead/init(parsing:)`` parses it.
struct ResponseHeadBuffer: Sendable {
  /// The bytes of an incomplete head.
  private var bytes: [UInt8] = []
  private var strayLineEnds = 0

  /// Whether nothing of the next head has arrived.
  var isEmpty: Bool { bytes.isEmpty }

  /// Takes bytes up to the end of the head.
  /// - Returns: how many bytes of the input were taken, and the head with its length if it is complete.
  mutating func take(_ input: UnsafeRawBufferPointer) throws(ResponseError)
    -> (count: Int, head: ResponseHead?, length: Int)
  {
    var count = 0
    for byte in input {
      count += 1
      if bytes.isEmpty, byte == ASCII.carriageReturn || byte == ASCII.lineFeed {
        // A stray line end after the previous response of a sloppy server.
        strayLineEnds += 1
        guard strayLineEnds <= 2 else { throw .notHTTP }
        continue
      }
      if bytes.isEmpty { bytes.reserveCapacity(Limits.responseHeadUsualLength) }
      bytes.append(byte)
      guard bytes.count <= Limits.responseHeadLength else { throw .headTooLong(limit: Limits.responseHeadLength) }
      if bytes.count <= 7, byte != httpVersionPrefix[bytes.count - 1] { throw .notHTTP }
      if byte == ASCII.lineFeed, let length = lengthOfWholeHead {
        let head = try ResponseHead(parsing: bytes[..<length])
        let whole = bytes.count
        bytes.removeAll(keepingCapacity: true)
        return (count, head, whole)
      }
    }
    return (count, nil, 0)
  }

  /// The length of the head without its last line end, if the bytes so far end in an empty line; otherwise nil.
  private var lengthOfWholeHead: Int? {
    var end = bytes.count - 1
    if bytes[end - 1] == ASCII.carriageReturn { end -= 1 }
    guard bytes[end - 1] == ASCII.lineFeed else { return nil }
    return end - 1
  }
}

private let httpVersionPrefix = Array("HTTP/1.".utf8)
