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

/// What an answer asks of any client, whatever was requested (RFC 9110, 15).
package enum Direction: Equatable, Sendable {
  /// It is for whoever made the request.
  case judge
  /// 417: repeat the request without `Expect`.
  case withoutExpectation
  /// 307 and 308: repeat the request there.
  case moved(to: String)
  /// 301, 302 and 303 would turn an upload into a GET.
  case turned(to: String)
  /// 401: repeat the request with other credentials.
  case authenticate
}

extension Answer {
  /// - Parameter expectedContinue: had the request asked for `100 (Continue)`?
  package func direction(expectedContinue: Bool) -> Direction {
    switch status {
    case 417 where expectedContinue: .withoutExpectation
    case 401: .authenticate
    case 307, 308: .moved(to: location)
    case 300..<400: .turned(to: location)
    default: .judge
    }
  }

  private var location: String { fields.first("Location") ?? "an address it does not name" }
}
