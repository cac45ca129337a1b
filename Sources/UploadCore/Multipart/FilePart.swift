/// The part of a form that carries a file.
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
