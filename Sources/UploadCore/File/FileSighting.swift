/// What a file's status said when it was last looked at.
package struct FileSighting: Equatable, Sendable {
  /// Without its edges.
  package let identity: FileIdentity
  package let changed: StatusTime

  package init(identity: FileIdentity, changed: StatusTime) {
    self.identity = identity
    self.changed = changed
  }
}
