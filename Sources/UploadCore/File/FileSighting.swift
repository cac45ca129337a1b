/// What a file's status said when it was last looked at.
package struct FileSighting: Equatable, Sendable {
  /// Without its edges.
  package let identity: FileIdentity
  package let changed: StatusTime

  package init(identity: FileIdentity, changed: StatusTime) {
    self.identity = identity
    self.changed = changed
  }

  /// Whether the file that is there now is the very same one, untouched since. Where inodes are not stable, nor are status times. The device
  /// number changes when a stick is put in again.
  package func isSame(as now: FileSighting) -> Bool {
    guard identity.hasStableInode else { return identity.change(since: now.identity) == nil }
    return identity.inode == now.identity.inode && changed == now.changed && identity.change(since: now.identity) == nil
  }
}
