/// A request as it goes on the wire, and how far it has got.
package struct WireRequest: Sendable {
  package let head: [UInt8]
  /// How much of the head is in the ring.
  private var headTaken = 0
  package var body: RequestBody
  package var exchange: Exchange
  /// When its last byte was written, or the server stopped it.
  package var sentAtMilliseconds: Int64?

  package init(head: [UInt8], body: RequestBody, exchange: Exchange) {
    self.head = head
    self.body = body
    self.exchange = exchange
  }

  /// Is all of the head in the ring, or beyond it?
  package var hasTakenHead: Bool { headTaken == head.count }

  /// All of head and body, in bytes.
  package var length: Int64 { Int64(head.count) + body.length }

  /// Bytes in front of those of the file.
  package var framingLength: Int64 { Int64(head.count) + Int64(body.header.count) }

  /// Does it carry a form with a whole recording?
  package var isWholeForm: Bool { !body.header.isEmpty && body.fileLength > 0 }

  /// Copies what is left of the head into `space`, as far as it fits.
  package mutating func writeHead(into space: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(head.count - headTaken, space.count)
    space.copyBytes(from: head[headTaken..<(headTaken + count)])
    headTaken += count
    return count
  }
}
