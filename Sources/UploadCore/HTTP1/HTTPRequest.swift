/// A request as the protocol decides on it. The sender adds user agent, Content-Length and, if the target is at the upload's own origin,
/// credentials.
package struct HTTPRequest: Equatable, Sendable {
  package var method: String
  package var target: TargetURI
  /// All fields except Host, which ``encodedHead(_:)`` writes.
  package var fields: [Field]
  /// nil for a request without content.
  package var body: RequestBody?
  /// Whether it may use `Expect: 100-continue` before its content.
  package var mayExpectContinue = false
  /// Whether the content has a secret, so that redirects to another origin must not be followed.
  package var isConfidential = false
  /// Whether it may be sent twice. If not, it uses an open connection only if the server has promised to keep that open.
  package var isRepeatable = true
  /// Whether its driver reports ``UploadEvent/lastByteNext`` before it sends the last byte.
  package var announcesLastByte = false

  /// How much of the response's content is kept, in bytes.
  package var replyLength = Limits.replyLength

  package var isRedirected = false

  /// How it is signed; nil if it is not.
  package var signing: S3Signing?

  package init(method: String, target: TargetURI, fields: [Field] = [], body: RequestBody? = nil) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// The length of the content in bytes.
  package var contentLength: Int64 { body?.length ?? 0 }

  /// Whether a redirect of it may be followed there. What is deleted keeps its name: anything else is somebody else's, such as the collection that
  /// an object is in.
  func mayMove(to other: TargetURI) -> Bool {
    let deletes = method == "DELETE" || fields.first("X-HTTP-Method-Override") == "DELETE"
    return !deletes || other.lastPathSegment == target.lastPathSegment
  }
}

extension HTTPRequest {
  /// The form of the target in the request line (RFC 9112, 3.2).
  package enum TargetForm: Sendable {
    /// The path: to a server.
    case origin
    /// The whole URI: to a proxy.
    case absolute
    /// Host and port: CONNECT.
    case authority
  }

  /// The head as sent, including its empty line (RFC 9112, 2.1). Host comes first (RFC 9110, 7.2).
  package func encodedHead(_ form: TargetForm = .origin) throws(RequestHeadError) -> [UInt8] {
    let text =
      switch form {
      case .origin: target.requestTarget
      case .absolute: target.absoluteForm
      case .authority: target.authorityWithPort
      }
    let host = form == .authority ? target.authorityWithPort : target.authority
    // A single array, because concatenated strings would be allocated for each field of each request.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1024)
    func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
    append(method)
    append(" ")
    append(text)
    append(" HTTP/1.1\r\nHost: ")
    append(host)
    append("\r\n")
    for field in fields {
      guard field.isSendable else { throw .invalidField(name: PrintableText.line(field.name)) }
      append(field.name)
      append(": ")
      append(field.value)
      append("\r\n")
    }
    append("\r\n")
    guard bytes.count <= Limits.requestHeadLength else { throw .tooLong(limit: Limits.requestHeadLength) }
    return bytes
  }
}

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

/// Why a request cannot be written.
public enum RequestHeadError: Error, Equatable {
  /// The field's name or value contains a forbidden character (RFC 9110, 5.5). The value is not included, because it can
  /// be a secret.
  case invalidField(name: String)
  case tooLong(limit: Int)
  /// A header field of the caller cannot be sent.
  case header(CustomFieldError)
  /// The caller's metadata for a tus server is longer in total, in bytes before Base64.
  case metadataTooLong(limit: Int)
  /// A request to an S3 server cannot be signed, because the credentials have no keys.
  case noKeys
}

extension Limits {
  /// A request head with all its fields, in bytes. Servers accept 8 KiB per line by default.
  package static let requestHeadLength = 16 << 10
}
