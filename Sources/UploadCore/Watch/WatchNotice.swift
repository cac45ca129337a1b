/// Something that a watcher reports once: in its log, and to the program of `--on-event`. Contains no secrets.
package struct WatchNotice: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The watcher watches all its directories.
    case started
    case stopped
    case delivered
    /// It will be tried again.
    case retry
    case setAside = "set_aside"
    /// Removed or moved after its delivery.
    case removed
    /// The destination fails for every file, and a person has to do something.
    case paused
    /// The network or the server fails.
    case unreachable
    /// This machine fails, as with a state directory without permission or an upload process that is killed.
    case failing
    /// The destination works again.
    case resumed
    case directoryMissing = "directory_missing"
    case directoryFound = "directory_found"
    /// There is too little space, and no delivered recording can be removed.
    case spaceShort = "space_short"
    case spaceFree = "space_free"
    case warning
  }
  package enum Priority: Sendable { case error, warning, information }

  package var kind: Kind
  /// Sentences for people.
  package var message: String
  package var priority: Priority
  /// The file or directory that it is about, as bytes.
  package var path: [UInt8]?
  /// The ID of the upload's record.
  package var id: String?
  package var assetID: Int64?
  /// That of the failure; 0 for a delivery.
  package var exitCode: Int64?
  /// In bytes.
  package var size: Int64?

  package init(_ kind: Kind, _ message: String, _ priority: Priority = .information, path: [UInt8]? = nil) {
    self.kind = kind
    self.message = message
    self.priority = priority
    self.path = path
  }
}
