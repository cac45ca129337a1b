/// When a change of only the file's status (ctime) was noticed: its size and modification time are the same.
package enum StatusChange: Equatable, Sendable {
  /// Before the end of the file was read.
  case whileReading
  /// The end of the file has been read, and is held back. `isDigested`: whether the digest covers every byte first sent since the
  /// file was last seen unchanged.
  case beforeEnd(isDigested: Bool)
  /// The whole file was sent, as pages that could still change in transit.
  case afterEnd
}
