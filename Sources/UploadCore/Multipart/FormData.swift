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

/// A text field of a form.
public struct FormField: Equatable, Sendable {
  /// The name of the field.
  public let name: String
  /// The value as sent: UTF-8, unless the caller gave other bytes.
  public let bytes: [UInt8]

  /// A field with a text value.
  public init(_ name: String, _ value: String) { self.init(name, bytes: Array(value.utf8)) }

  /// A field whose value need not be UTF-8, such as a file name.
  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The value as text.
  public var value: String { String(decoding: bytes, as: UTF8.self) }
}

package struct FilePart: Equatable, Sendable {
  /// The name of the form field; `file` for GigHive.
  package var name: String
  /// The file name as sent, not necessarily UTF-8.
  package var fileName: [UInt8]
  /// Such as `video/mp4`.
  package var mediaType: String

  package init(name: String, fileName: [UInt8], mediaType: String) {
    self.name = name
    self.fileName = fileName
    self.mediaType = mediaType
  }

  package init(name: String, fileName: String, mediaType: String) {
    self.init(name: name, fileName: Array(fileName.utf8), mediaType: mediaType)
  }
}

/// The line that separates the parts of a multipart body (RFC 2046, 5.1.1). It has 128 random bits, so that no file or field
/// can contain it on purpose. 70 characters are allowed; it has 44.
package struct Boundary: Equatable, Sendable {
  /// Names this attempt where something else must be unique.
  package let token: String
  package var text: String { "----GigHive-" + token }

  /// - Parameter random: 16 unpredictable bytes.
  package init(random: [UInt8]) {
    precondition(random.count == 16)
    token = ASCII.hex(random)
  }
}

/// Why a form cannot be written.
public enum FormDataError: Error, Equatable {
  /// All text fields together exceed what servers accept. The limit is in bytes.
  case fieldsTooLong(limit: Int)
  /// A media type with characters that do not belong in a header line.
  case invalidMediaType(String)
}

extension Limits {
  /// The form's text fields with their framing, in bytes. PHP and ModSecurity accept 128 KiB by default.
  package static let formLength = 64 << 10
}
