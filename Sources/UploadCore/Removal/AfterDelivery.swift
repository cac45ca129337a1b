/// What becomes of a recording on this machine once it is delivered.
package struct AfterDelivery: Equatable, Sendable {
  package enum Removal: Equatable, Sendable {
    case delete
    /// Move it into this directory, which is on the same file system.
    case move(LocalPath)
  }

  /// How it is removed; nil to keep it.
  package var removal: Removal?
  /// Whether a delivery counts although the server cannot be asked later whether it still has the recording. Only GigHive can.
  package var trustsServer = false
  /// Whether a recording that has not changed since its delivery counts as finished where open files cannot be seen.
  package var trustsSettle = false

  package init() {}
}
