/// A final response with decoded content, as the machine gets it: the evidence for a ``Verdict``.
package struct Answer: Equatable, Sendable {
  package let status: Int
  package let fields: [Field]
  /// The decoded content; empty if it could not be decoded.
  package let content: [UInt8]
  /// Whether some of its content did not arrive.
  package let isCut: Bool
  /// How much of the request was sent when it arrived.
  package let sent: ContentSent
  /// The time from the request's last byte, in milliseconds.
  package let afterMilliseconds: Int64
  /// The time from its first byte, if the response stopped its content while it was moving, in milliseconds.
  package let cutAfterMilliseconds: Int64?
  /// When it arrived, in seconds since 1970 by this machine's clock.
  package let receivedAtSeconds: Int64
  /// What was read to be sent with the request; nil if nobody asked for it (``RequestBody/digestedFrom``).
  package let run: SentRun?
  /// What the kernel has counted on the connection, if the request had a part of the file.
  package let link: LinkCounts?

  package init(
    status: Int, fields: [Field] = [], content: [UInt8] = [], isCut: Bool = false, sent: ContentSent = .whole,
    afterMilliseconds: Int64 = 0, cutAfterMilliseconds: Int64? = nil, receivedAtSeconds: Int64 = 0, run: SentRun? = nil,
    link: LinkCounts? = nil
  ) {
    self.status = status
    self.fields = fields
    self.content = content
    self.isCut = isCut
    self.sent = sent
    self.afterMilliseconds = afterMilliseconds
    self.cutAfterMilliseconds = cutAfterMilliseconds
    self.receivedAtSeconds = receivedAtSeconds
    self.run = run
    self.link = link
  }

  /// 200 to 299.
  package var isSuccess: Bool { status >= 200 && status < 300 }

  /// Whether no cache has kept it: what it says is true now.
  var isFresh: Bool { fields.areFresh }

  /// The response as a refusal, with the server's message.
  package var refusal: UploadError {
    let json = try? JSONReader.read(content)
    let message = ServerMessage.text(of: json, content: content)
    guard let problem = GigHiveFailure(status: status, json: json)?.problem else {
      return .refused(status: status, message: message)
    }
    return .formDropped(status: status, message: message, problem)
  }
}
