import CShims
import UploadCore

extension Answer {
  /// Decodes a response's content, and shows the response in `trace`. Undecodable or truncated content is empty: it confirms
  /// nothing.
  /// - Parameters:
  ///   - secrets: redacted in content that is not JSON. Such content is only quoted, and redacted before its tags are removed, because a
  ///     secret can contain tags.
  ///   - milliseconds: the time from the request's last byte.
  ///   - cutAfterMilliseconds: the time from its first byte, if the response stopped its content while it was moving.
  /// - Throws: if there is not enough memory.
  init(
    decoding response: Response, sent: ContentSent = .whole, afterMilliseconds milliseconds: Int64 = 0,
    cutAfterMilliseconds: Int64? = nil, _ secrets: Secrets, _ trace: RequestTrace
  ) throws(UploadError) {
    trace.show(response.head)
    var content = response.isTruncated ? [] : try ContentCoding.decodedContent(of: response) ?? []
    trace.show(content)
    if (try? JSONReader.read(content)) == nil { content = secrets.redacted(content) }
    self.init(
      status: response.status, fields: response.head.fields, content: content, sent: sent,
      afterMilliseconds: milliseconds, cutAfterMilliseconds: cutAfterMilliseconds,
      receivedAtSeconds: shim_unix_seconds())
  }
}
