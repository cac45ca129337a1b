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
