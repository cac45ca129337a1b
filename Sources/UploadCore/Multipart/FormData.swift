/// The multipart/form-data encoding of text fields and one file (RFC 7578, and the HTML standard for names).
package enum FormData {
  /// The value of the request's Content-Type field.
  package static func contentType(_ boundary: Boundary) -> String { "multipart/form-data; boundary=" + boundary.text }

  /// The body: the text fields in order, then the file.
  package static func body(
    fields: [FormField], file: FilePart, fileLength: Int64, boundary: Boundary
  ) throws(FormDataError) -> RequestBody {
    guard Field("Content-Type", file.mediaType).isSendable else { throw .invalidMediaType(file.mediaType) }
    var header: [UInt8] = []
    for field in fields {
      appendPartStart(boundary, name: field.name, to: &header)
      append("\r\n\r\n", to: &header)
      header += field.bytes
      append("\r\n", to: &header)
    }
    appendPartStart(boundary, name: file.name, to: &header)
    append("; filename=\"", to: &header)
    appendEscaped(file.fileName, to: &header)
    append("\"\r\nContent-Type: ", to: &header)
    append(file.mediaType, to: &header)
    append("\r\n\r\n", to: &header)
    guard header.count <= Limits.formLength else { throw .fieldsTooLong(limit: Limits.formLength) }
    return RequestBody(
      header: header, fileLength: fileLength, footer: Array(("\r\n--" + boundary.text + "--\r\n").utf8))
  }

  private static func appendPartStart(_ boundary: Boundary, name: String, to bytes: inout [UInt8]) {
    append("--" + boundary.text + "\r\nContent-Disposition: form-data; name=\"", to: &bytes)
    appendEscaped(Array(name.utf8), to: &bytes)
    append("\"", to: &bytes)
  }

  /// Appends a name with CR, LF and quotes percent-encoded and everything else unchanged, as browsers do (HTML,
  /// "multipart/form-data encoding algorithm"). `filename*` is forbidden here (RFC 7578, 4.2).
  private static func appendEscaped(_ name: [UInt8], to bytes: inout [UInt8]) {
    for byte in name {
      switch byte {
      case ASCII.carriageReturn, ASCII.lineFeed, ASCII.quote:
        bytes.append(ASCII.percent)
        ASCII.appendHex([byte], uppercase: true, to: &bytes)
      default:
        bytes.append(byte)
      }
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) { bytes.append(contentsOf: text.utf8) }
}
