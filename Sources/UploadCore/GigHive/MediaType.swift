/// Media types by file name extension, for the recordings that GigHive accepts.
package enum MediaType {
  /// The default.
  package static let unknown = "application/octet-stream"

  /// The media type for a file name, such as `video/mp4`. The case of the extension is ignored.
  package static func of(fileName: String) -> String {
    let bytes = Array(fileName.utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return unknown }
    let fileExtension = ASCII.lowercased(String(decoding: bytes[(dot + 1)...], as: UTF8.self))
    return byExtension.first { $0.0 == fileExtension }?.1 ?? unknown
  }

  /// Whether GigHive takes the file, by the extension of its name.
  static func isRecording(fileName: [UInt8]) -> Bool {
    of(fileName: String(decoding: fileName, as: UTF8.self)) != unknown
  }

  /// Those of the recordings that GigHive takes.
  static var extensions: [String] { byExtension.map { $0.0 } }

  /// Registered by IANA, or else in common use.
  private static let byExtension: [(String, String)] = [
    ("mp3", "audio/mpeg"), ("wav", "audio/wav"), ("flac", "audio/flac"), ("aac", "audio/aac"),
    ("m4a", "audio/mp4"), ("aif", "audio/aiff"), ("aiff", "audio/aiff"), ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"), ("au", "audio/basic"), ("wma", "audio/x-ms-wma"),
    ("mp4", "video/mp4"), ("m4v", "video/mp4"), ("mov", "video/quicktime"), ("mkv", "video/x-matroska"),
    ("webm", "video/webm"), ("avi", "video/x-msvideo"), ("mpg", "video/mpeg"), ("mpeg", "video/mpeg"),
    ("vob", "video/mpeg"), ("ts", "video/mp2t"), ("m2t", "video/mp2t"), ("m2ts", "video/mp2t"),
    ("ogv", "video/ogg"), ("mxf", "application/mxf"), ("flv", "video/x-flv"), ("wmv", "video/x-ms-wmv"),
  ]
}
