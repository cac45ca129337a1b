/// The beginning of a file, as it was sent over tus.
package struct SentPart: Equatable, Sendable {
  /// Bytes.
  package var length: Int64
  package var sha256: String
  /// The file's status time when its content was last known to be what was sent; nil if it can prove nothing.
  package var statusTime: StatusTime?

  package init(length: Int64, sha256: String, statusTime: StatusTime? = nil) {
    self.length = length
    self.sha256 = sha256
    self.statusTime = statusTime
  }
}
