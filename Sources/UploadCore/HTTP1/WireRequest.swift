/// A request on the wire, and how much of it was sent.
package struct WireRequest: Sendable {
  package let head: [UInt8]
  /// How much of the head was copied into the ring.
  private var headTaken = 0
  package var body: RequestBody
  package var exchange: Exchange
  /// Whether its sender must know before the last byte is sent.
  package let announcesLastByte: Bool
  /// When its first byte was passed to the connection.
  package var startedAtMilliseconds: Int64?
  /// When its last byte was written, or when the server stopped it.
  package var sentAtMilliseconds: Int64?

  package init(head: [UInt8], body: RequestBody, exchange: Exchange, announcesLastByte: Bool = false) {
    self.head = head
    self.body = body
    self.exchange = exchange
    self.announcesLastByte = announcesLastByte
  }

  /// Whether the whole head was copied into the ring.
  package var hasTakenHead: Bool { headTaken == head.count }

  /// The length of head and body, in bytes.
  package var length: Int64 { Int64(head.count) + body.length }

  /// The number of bytes before the file content.
  package var framingLength: Int64 { Int64(head.count) + Int64(body.header.count) }

  /// Whether it carries a form with a whole recording.
  package var isWholeForm: Bool { !body.header.isEmpty && body.fileLength > 0 }

  /// Copies as much of the remaining head into `space` as fits.
  package mutating func writeHead(into space: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(head.count - headTaken, space.count)
    space.copyBytes(from: head[headTaken..<(headTaken + count)])
    headTaken += count
    return count
  }
}
