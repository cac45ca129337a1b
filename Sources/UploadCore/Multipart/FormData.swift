/// A text field of a form.
public struct FormField: Equatable, Sendable {
  /// The form's name for it.
  public let name: String
  /// What it says, as it goes on the wire: UTF-8, unless the caller has it otherwise.
  public let bytes: [UInt8]

  /// A field of this name and value.
  public init(_ name: String, _ value: String) { self.init(name, bytes: Array(value.utf8)) }

  /// A field of this name, and a value that need not be UTF-8, such as the name of a file.
  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// What it says, as text.
  public var value: String { String(decoding: bytes, as: UTF8.self) }
}

/// The part of a form that carries a file.
package struct FilePart: Equatable, Sendable {
  /// The form's name for it; GigHive's is `file`.
  package var name: String
  /// As it goes on the wire, not necessarily in UTF-8.
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

/// Why a form cannot be written.
public enum FormDataError: Error, Equatable {
  /// All text fields together are longer than servers take; the limit is in bytes.
  case fieldsTooLong(limit: Int)
  /// A media type with characters that would break out of its header line.
  case invalidMediaType(String)
}

/// The multipart/form-data encoding of some text fields and one file (RFC 7578, and the HTML standard for names).
package enum FormData {
  /// The value of the request's Content-Type field.
  package static func contentType(_ boundary: Boundary) -> String { "multipart/form-data; boundary=" + boundary.text }

  /// The body: the text fields in their order, then the file.
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

  /// In names, CR, LF and the quote are percent-encoded and all else goes as it is: what browsers do, in UTF-8 (HTML,
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
