import UploadCore

/// A request as it goes on the wire, and how far it has got.
struct OutgoingRequest {
  let head: [UInt8]
  /// How much of the head is in the ring.
  private(set) var headTaken = 0
  var body: RequestBody
  var exchange: Exchange
  /// When its last byte was written, or the server stopped it.
  var sentAt: Int64?

  init(head: [UInt8], body: RequestBody, exchange: Exchange) {
    self.head = head
    self.body = body
    self.exchange = exchange
  }

  /// All of head and body, in bytes.
  var length: Int64 { Int64(head.count) + body.length }

  /// Bytes in front of those of the file.
  var framingLength: Int64 { Int64(head.count) + Int64(body.header.count) }

  /// Copies what is left of the head into `space`, as far as it fits.
  mutating func writeHead(into space: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(head.count - headTaken, space.count)
    space.copyBytes(from: head[headTaken..<(headTaken + count)])
    headTaken += count
    return count
  }
}
