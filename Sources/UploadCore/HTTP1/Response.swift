/// A final response with its content, as far as it was kept.
package struct Response: Equatable, Sendable {
  package let head: ResponseHead
  /// At most `Limits.replyLength` bytes, still in its content coding.
  package var content: [UInt8] = []
  /// Was there more content than is kept?
  package var isTruncated = false

  package init(head: ResponseHead) { self.head = head }

  package var status: Int { head.status }
}
