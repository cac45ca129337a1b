/// One request and its response over HTTP/1.1, without the connection. The caller reports what was sent and passes in what
/// arrives, and this says what may be sent next. Both directions are open at once, so that an early final response stops
/// the sending (RFC 9112, 9.3).
///
///     sending:    head ──▶ awaitingContinue ──▶ body ──▶ finished
///                   │             │              ▲ │
///                   ├─────────────┼──────────────┘ │                   without Expect
///                   └─────────────┴────────────────┴────▶ stopped      early final response
///
///     receiving:  head, also of interim responses ──▶ length, chunked or untilClose ──▶ complete
package struct Exchange: Sendable {
  package enum Sending: Equatable, Sendable {
    case head
    /// `Expect: 100-continue` was sent. The body waits for the 100 up to this time (RFC 9110, 10.1.1).
    case awaitingContinue(untilMilliseconds: Int64)
    case body
    case finished
    /// The final response arrived before the body was sent. The rest must not be sent.
    case stopped
  }

  private enum Receiving: Equatable {
    case head
    case length(left: Int64)
    case chunked(ChunkedDecoder)
    case untilClose
    case complete
  }

  private let method: String
  private let replyLength: Int
  package let expectsContinue: Bool
  package private(set) var sending = Sending.head
  private var receiving = Receiving.head
  private var headBuffer = ResponseHeadBuffer()
  /// The bytes of interim responses since the content last advanced.
  private var interimLength = 0
  /// The bytes of content that were not kept.
  private var drained: Int64 = 0
  private var connectionEnds = false
  /// Whether another request was pipelined after this one. Bytes after this response then belong to that one's.
  package var hasSuccessor = false
  private var response: Response?

  /// - Parameters:
  ///   - method: decides whether the response has content.
  ///   - expectsContinue: whether the head asks for `100 (Continue)`.
  ///   - replyLength: how much of the response's content is kept, in bytes.
  package init(method: String, expectsContinue: Bool, replyLength: Int = Limits.replyLength) {
    self.method = method
    self.replyLength = replyLength
    self.expectsContinue = expectsContinue
  }

  // MARK: Queries

  package var finalResponse: Response? { receiving == .complete ? response : nil }

  /// A refusal, as far as it has arrived. Its head is enough if the connection breaks after it.
  package var refusalSoFar: Response? {
    guard var response, response.status >= 300 else { return nil }
    response.isCut = receiving != .complete
    return response
  }

  /// Whether not even the head of an interim response has arrived completely.
  var awaitsFirstHead: Bool { response == nil && interimLength == 0 }

  /// Whether any part of a response has arrived, including interim responses.
  package var hasResponseStarted: Bool { !headBuffer.isEmpty || interimLength > 0 || response != nil }

  /// Whether nothing of a final response has arrived, so that the end of the connection truncates none.
  package var awaitsHead: Bool { receiving == .head && headBuffer.isEmpty }

  /// Whether the server said that the connection ends after this response.
  var endsConnection: Bool { receiving == .complete && connectionEnds }

  /// Whether the server said that it keeps the connection open.
  package var promisesReuse: Bool {
    guard let fields = response?.head.fields else { return false }
    return fields.listMembers(of: "Connection").contains("keep-alive") || fields.first("Keep-Alive") != nil
  }

  /// Whether another request can follow on the same connection (RFC 9112, 9.3 and 9.6).
  package var canReuseConnection: Bool { receiving == .complete && sending == .finished && !connectionEnds }

  // MARK: Events

  /// The head has been written.
  /// - Parameter continueDeadlineMilliseconds: until when to wait for `100 (Continue)`.
  package mutating func headWasSent(continueDeadlineMilliseconds: Int64) {
    guard sending == .head else { return }
    sending = expectsContinue ? .awaitingContinue(untilMilliseconds: continueDeadlineMilliseconds) : .body
  }

  package mutating func tick(nowMilliseconds: Int64) {
    if case .awaitingContinue(let deadline) = sending, nowMilliseconds >= deadline { sending = .body }
  }

  /// The last byte of the body has been written.
  package mutating func bodyWasSent() {
    if sending == .body { sending = .finished }
  }

  /// Bytes have arrived. All of them are consumed, unless another request was pipelined. Bytes after a complete response
  /// are dropped, and the connection with them.
  /// - Returns: the number of bytes consumed.
  @discardableResult
  package mutating func receive(_ input: UnsafeRawBufferPointer) throws(ResponseError) -> Int {
    var rest = input
    while !rest.isEmpty {
      let count: Int
      switch receiving {
      case .head:
        let decoded = try headBuffer.take(rest)
        count = decoded.count
        if let head = decoded.head { try accept(head, length: decoded.length) }
      case .length(let left): count = receiveLength(rest, left: left)
      case .chunked(var decoder):
        count = try decoder.decode(rest) { keep($0) }
        receiving = decoder.isFinished ? .complete : .chunked(decoder)
      case .untilClose:
        keep(rest)
        count = rest.count
      case .complete:
        if hasSuccessor, !connectionEnds { return input.count - rest.count }
        connectionEnds = true
        return input.count
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      if drained > Limits.replyDrainLength {
        // This is enough to know the server's message. Waiting for the rest is not worth the connection.
        connectionEnds = true
        receiving = .complete
      }
    }
    return input.count
  }

  package mutating func receiveEnd() throws(ResponseError) {
    connectionEnds = true
    switch receiving {
    case .complete: return
    case .untilClose: receiving = .complete
    case .head, .length, .chunked: throw .incomplete
    }
  }

  // MARK: Receiving

  private mutating func accept(_ head: ResponseHead, length: Int) throws(ResponseError) {
    if head.isInterim { return try acceptInterim(head, length) }
    response = Response(head: head, limit: replyLength)
    connectionEnds = Exchange.forbidsReuse(head)
    if sending != .finished { sending = .stopped }
    switch try ResponseBodyFraming(of: head, requestMethod: method) {
    case .none, .length(0): receiving = .complete
    case .length(let length): receiving = .length(left: length)
    case .chunked: receiving = .chunked(ChunkedDecoder())
    case .untilClose:
      connectionEnds = true
      receiving = .untilClose
    }
  }

  /// More of the request's content has arrived at the peer, so the count of interim bytes restarts. Servers keep
  /// sending them during requests that take hours.
  package mutating func contentHasAdvanced() { interimLength = 0 }

  private mutating func acceptInterim(_ head: ResponseHead, _ length: Int) throws(ResponseError) {
    interimLength += length
    guard interimLength <= Limits.interimLength else { throw .tooManyInterimResponses(limit: Limits.interimLength) }
    if head.status == 101 { throw .unexpectedUpgrade }
    if head.status == 100, case .awaitingContinue = sending { sending = .body }
  }

  private static func forbidsReuse(_ head: ResponseHead) -> Bool {
    let options = head.fields.listMembers(of: "Connection")
    // Both lengths at once suggest request smuggling (RFC 9112, 6.3), and so does a transfer coding in HTTP/1.0, which
    // has none (RFC 9112, 6.1).
    let isAmbiguous =
      head.fields.first("Transfer-Encoding") != nil
      && (head.minorVersion == 0 || head.fields.first("Content-Length") != nil)
    return options.contains("close") || isAmbiguous || head.hasMalformedField
      || (head.minorVersion == 0 && !options.contains("keep-alive"))
  }

  private mutating func receiveLength(_ input: UnsafeRawBufferPointer, left: Int64) -> Int {
    let count = Int(min(left, Int64(input.count)))
    keep(UnsafeRawBufferPointer(rebasing: input[..<count]))
    receiving = left == Int64(count) ? .complete : .length(left: left - Int64(count))
    return count
  }

  private mutating func keep(_ content: UnsafeRawBufferPointer) {
    let room = replyLength - (response?.content.count ?? 0)
    response?.content.append(contentsOf: content.prefix(room))
    if content.count > room {
      response?.isTruncated = true
      drained += Int64(content.count - room)
    }
  }
}

/// A final response, with as much of its content as was kept.
package struct Response: Equatable, Sendable {
  package let head: ResponseHead
  /// How much content is kept, in bytes, before and after it is decoded.
  package let limit: Int
  /// Still in its content coding.
  package var content: [UInt8] = []
  package var isTruncated = false
  /// Whether the connection ended before it did.
  package var isCut = false

  package init(head: ResponseHead, limit: Int = Limits.replyLength) { (self.head, self.limit) = (head, limit) }

  package var status: Int { head.status }
}

/// How a response violates HTTP/1.1. The mistake is the server's, or that of an intermediary.
public enum ResponseError: Error, Equatable {
  /// It does not start with `HTTP/1.` and a status: the peer speaks another protocol.
  case notHTTP
  case headTooLong(limit: Int)
  case tooManyFields(limit: Int)
  /// In bytes.
  case tooManyInterimResponses(limit: Int)
  /// A field line, also of a trailer, with a bad name, white space before the colon, a bare CR, a NUL or obsolete folding (RFC 9112, 5),
  /// or a status line with a bare CR or a NUL.
  case invalidField
  /// A length that is not a number, or contradicts another one (RFC 9112, 6.3).
  case invalidContentLength
  case unsupportedTransferEncoding
  case invalidChunk
  case trailerTooLong(limit: Int)
  /// `101 (Switching Protocols)`, which was not requested.
  case unexpectedUpgrade
  /// The connection ended before the response did.
  case incomplete
}

/// How much of a request's content may have reached the peer.
package enum ContentSent: Equatable, Sendable {
  /// Not a byte.
  case none
  /// A part, but not the last byte.
  case partial
  case whole
}

extension Limits {
  /// Interim (1xx) responses without progress of the content, in bytes. GigHive's and tusd's servers send one every few seconds while they
  /// work, for hours if necessary.
  package static let interimLength = 1 << 20
  /// How much more of a response's content is read and dropped before the connection is closed, in bytes.
  package static let replyDrainLength: Int64 = 1 << 20
}
