/// How the end of a response's content is found (RFC 9112, 6.3).
package enum ResponseBodyFraming: Equatable, Sendable {
  case none
  /// Content-Length, in bytes.
  case length(Int64)
  case chunked
  /// The content ends where the connection does.
  case untilClose

  /// The framing of a final response.
  /// - Parameter requestMethod: a response to HEAD, or a success to CONNECT, has no content whatever its fields say.
  package init(of head: ResponseHead, requestMethod: String) throws(ResponseError) {
    let isTunnel = requestMethod == "CONNECT" && head.status < 300
    if requestMethod == "HEAD" || isTunnel || head.status == 204 || head.status == 304 {
      self = .none
      return
    }
    // "identity" means no coding. It is from RFC 2616.
    let codings = head.fields.listMembers(of: "Transfer-Encoding").filter { $0 != "identity" }
    if !codings.isEmpty {
      guard codings == ["chunked"] else { throw .unsupportedTransferEncoding }
      self = .chunked
      return
    }
    var length: Int64?
    for value in head.fields.values(of: "Content-Length") {
      // A proxy turns repeated fields into a list of equal numbers.
      for element in Array(value.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let number = ASCII.decimal(ASCII.trimmed(element)), length == nil || length == number else {
          throw .invalidContentLength
        }
        length = number
      }
    }
    self = length.map { .length($0) } ?? .untilClose
  }
}
