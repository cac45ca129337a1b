/// A request as a protocol decides on it. Who sends it adds who asks: credentials, user agent, Content-Length.
package struct HTTPRequest: Equatable, Sendable {
  /// Which connection a request may use.
  package enum Reuse: Equatable, Sendable {
    /// Any that is open: the request can be repeated if the server closes it at the same moment.
    case any
    /// One that the server has promised to keep open, since the request must not be sent twice.
    case promised
  }

  package var method: String
  package var target: TargetURI
  package var fields: [Field]
  /// nil for a request without content.
  package var body: RequestBody?
  /// Is it worth a round trip to ask whether the content is wanted?
  package var mayExpectContinue = false
  /// Is there a secret in the content, so that a redirect to another origin must not be followed?
  package var isConfidential = false
  package var reuse = Reuse.any

  package init(method: String, target: TargetURI, fields: [Field] = [], body: RequestBody? = nil) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// Bytes of content.
  package var contentLength: Int64 { body?.length ?? 0 }

  /// Where in the file the content begins, in bytes.
  package var fileOffset: Int64 { body?.fileOffset ?? 0 }
}
