/// A final response, with as much of its content as was kept.
package struct Response: Equatable, Sendable {
  package let head: ResponseHead
  /// At most `Limits.replyLength` bytes, still in its content coding.
  package var content: [UInt8] = []
  /// Whether there was more content.
  package var isTruncated = false

  package init(head: ResponseHead) { self.head = head }

  package var status: Int { head.status }
}
