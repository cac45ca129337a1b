/// Why a request cannot be written.
public enum RequestHeadError: Error, Equatable {
  /// The field's name or value holds a character that no field may hold (RFC 9110, 5.5). The value is not told: it can be
  /// a secret.
  case invalidField(name: String)
  case tooLong(limit: Int)
}

/// A request's line and fields (RFC 9112, 2.1).
package struct RequestHead: Equatable, Sendable {
  package var method: String
  package var target: TargetURI
  /// All fields but Host, which ``encoded()`` writes first (RFC 9110, 7.2).
  package var fields: [Field]

  package init(method: String, target: TargetURI, fields: [Field]) {
    self.method = method
    self.target = target
    self.fields = fields
  }

  /// The head as it goes on the wire, with its closing empty line.
  package func encoded() throws(RequestHeadError) -> [UInt8] {
    var bytes = Array((method + " " + target.requestTarget + " HTTP/1.1\r\n").utf8)
    bytes += Array(("Host: " + target.authority + "\r\n").utf8)
    for field in fields {
      guard field.isSendable else { throw .invalidField(name: PrintableText.line(field.name)) }
      bytes += Array((field.name + ": " + field.value + "\r\n").utf8)
    }
    bytes += Array("\r\n".utf8)
    guard bytes.count <= Limits.requestHeadLength else { throw .tooLong(limit: Limits.requestHeadLength) }
    return bytes
  }
}
