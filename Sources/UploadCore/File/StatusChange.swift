/// When a change of the file's status alone (ctime) was noticed: neither its size nor its modification time is another.
package enum StatusChange: Equatable, Sendable {
  /// There is more of the file to be sent.
  case underWay
  /// The end of the file has been read, and is held back. `isDigested`: since the file was last seen unchanged, does the digest
  /// have every byte as it was sent?
  case beforeEnd(isDigested: Bool)
  /// All of the file has gone out, as pages that could still change on their way.
  case behindEnd
}
