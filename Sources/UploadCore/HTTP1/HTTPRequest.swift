/// A request as the protocol decides on it. The sender adds user agent, Content-Length and, if the target is at the upload's own origin,
/// credentials.
package struct HTTPRequest: Equatable, Sendable {
  /// Which connection a request may use.
  package enum Reuse: Equatable, Sendable {
    /// Any open one. If the server closes it at the same moment, the request can be repeated.
    case any
    /// Only one that the server has promised to keep open, because the request must not be sent twice.
    case promised
  }

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
  package var reuse = Reuse.any

  package init(method: String, target: TargetURI, fields: [Field] = [], body: RequestBody? = nil) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// The length of the content in bytes.
  package var contentLength: Int64 { body?.length ?? 0 }
}
