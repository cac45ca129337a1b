/// A final response to one request, with its content readable: the evidence that a ``Verdict`` is based on.
package struct Answer: Equatable, Sendable {
  package let status: Int
  package let fields: [Field]
  /// Without its content coding; empty if it could not be read.
  package let content: [UInt8]
  /// How much of the request had gone out when it came.
  package let sent: ContentSent
  /// How long it took from the request's last byte, in milliseconds.
  package let afterMilliseconds: Int64
  /// When it came, in seconds since 1970 by this machine's clock.
  package let receivedAtSeconds: Int64

  package init(
    status: Int, fields: [Field] = [], content: [UInt8] = [], sent: ContentSent = .whole, afterMilliseconds: Int64 = 0,
    receivedAtSeconds: Int64 = 0
  ) {
    self.status = status
    self.fields = fields
    self.content = content
    self.sent = sent
    self.afterMilliseconds = afterMilliseconds
    self.receivedAtSeconds = receivedAtSeconds
  }

  /// 200 to 299.
  package var isSuccess: Bool { status >= 200 && status < 300 }

  /// The answer as a refusal, in the server's words.
  package var refusal: UploadError { .refused(status: status, message: ServerReply.message(of: content)) }
}
