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

  package init(method: String, target: TargetURI, fields: [Field] = [], body: RequestBody? = nil) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// The length of the content in bytes.
  package var contentLength: Int64 { body?.length ?? 0 }
}
