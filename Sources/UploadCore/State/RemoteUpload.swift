/// The upload on a tus server.
package struct RemoteUpload: Equatable, Sendable {
  package var url: String
  /// The server's Upload-Expires.
  package let expires: String?
  /// The offset on the server when the record was written, in bytes.
  package var offset: Int64
  /// Whether the server has said that it has every byte, and GigHive has to turn them into a recording.
  package var isWhole: Bool

  package init(url: String, expires: String? = nil, offset: Int64 = 0, isWhole: Bool = false) {
    self.url = url
    self.expires = expires
    self.offset = offset
    self.isWhole = isWhole
  }
}
