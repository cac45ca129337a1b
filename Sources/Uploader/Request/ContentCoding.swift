import CShims
import UploadCore

/// The content codings that the client accepts (RFC 9110, 8.4.1).
enum ContentCoding {
  /// For the request's Accept-Encoding field.
  static let accepted = "gzip, deflate"

  /// The decoded content of a response; nil if it is damaged, truncated, in an unknown coding, or larger than
  /// ``Response/limit`` when decoded. Throws if there is not enough memory.
  static func decodedContent(of response: Response) throws(UploadError) -> [UInt8]? {
    let codings = response.head.fields.listMembers(of: "Content-Encoding").filter { $0 != "identity" }
    guard let coding = codings.first else { return response.content }
    guard codings.count == 1, coding == "gzip" || coding == "x-gzip" || coding == "deflate" else { return nil }
    if response.content.isEmpty { return [] }
    var length: Int64 = 0
    let decoded = [UInt8](unsafeUninitializedCapacity: response.limit) { space, count in
      length = shim_inflate(response.content, response.content.count, space.baseAddress, space.count)
      count = max(0, Int(length))
    }
    if Int(length) == SHIM_INFLATE_NO_MEMORY { throw .outOfResources("memory") }
    return length >= 0 ? decoded : nil
  }
}

extension Answer {
  /// Decodes a response's content, and shows the response. Undecodable or truncated content is empty: it confirms nothing.
  /// - Parameters:
  ///   - composer: its secrets are redacted in content that is not JSON. Such content is only quoted, and redacted before its tags are
  ///     removed, because a secret can contain tags. It learns GigHive's delete token, which the server may repeat elsewhere.
  ///   - tell: ``Configuration/diagnostics``.
  ///   - milliseconds: the time from the request's last byte.
  ///   - cutAfterMilliseconds: the time from its first byte, if the response stopped its content while it was moving.
  /// - Throws: if there is not enough memory.
  init(
    decoding response: Response, sent: ContentSent = .whole, afterMilliseconds milliseconds: Int64 = 0,
    cutAfterMilliseconds: Int64? = nil, run: SentRun? = nil, link: LinkCounts? = nil, _ composer: inout RequestComposer,
    tell: ((String) -> Void)?
  ) throws(UploadError) {
    var content = response.isTruncated ? [] : try ContentCoding.decodedContent(of: response) ?? []
    let json = try? JSONReader.read(content)
    if let token = json?["delete_token"]?.string { composer.hide(token) }
    let trace = composer.trace(tell)
    trace.show(response.head)
    trace.show(content)
    if json == nil { content = composer.secrets.redacted(content) }
    self.init(
      status: response.status, fields: response.head.fields, content: content, isCut: response.isCut,
      sent: sent, afterMilliseconds: milliseconds, cutAfterMilliseconds: cutAfterMilliseconds,
      receivedAtSeconds: shim_unix_seconds(), run: run, link: link)
  }
}
