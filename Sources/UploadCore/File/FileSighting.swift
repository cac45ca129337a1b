/// What a file's status said when it was last looked at.
package struct FileSighting: Equatable, Sendable {
  /// Without its edges.
  package let identity: FileIdentity
  package let changed: StatusTime

  package init(identity: FileIdentity, changed: StatusTime) {
    self.identity = identity
    self.changed = changed
  }

  /// Whether this is still the file that was judged earlier: the same file on the disk where inodes are stable, with the same size and
  /// modification time. A change of its status alone (ctime) may be a new name or new permissions.
  package func isStill(_ judged: FileSighting) -> Bool {
    let (now, then) = (identity, judged.identity)
    return now.size == then.size && now.modifiedSeconds == then.modifiedSeconds
      && now.modifiedNanoseconds == then.modifiedNanoseconds && (!then.hasStableInode || now.isSameFile(as: then))
  }

  /// Whether it is the same file on the disk, and only its status has changed: its permissions, owner, names or attributes.
  func hasOnlyOtherStatus(than before: FileSighting) -> Bool {
    before.identity.hasStableInode && changed != before.changed && isStill(before)
  }

  /// Whether the file that is there now is the same one, and has not been written since. Its names and permissions may be others, and its
  /// device number, if a stick was put in again.
  package func isSame(as now: FileSighting) -> Bool {
    let isSameInode = !identity.hasStableInode || identity.inode == now.identity.inode
    return isSameInode && identity.change(since: now.identity) == nil
  }
}

/// As a list passes it on, and as a record keeps that of a sidecar file: `{"device":"2049","inode":"131","size":4,"modified_seconds":1,…}`.
extension FileSighting {
  package func encoded() -> JSONWriter {
    var json = JSONWriter()
    json.add("device", String(identity.device))
    json.add("inode", String(identity.inode))
    json.add("size", identity.size)
    json.add("modified_seconds", identity.modifiedSeconds)
    json.add("modified_nanoseconds", identity.modifiedNanoseconds)
    json.add("changed_seconds", changed.seconds)
    json.add("changed_nanoseconds", changed.nanoseconds)
    return json
  }

  /// - Returns: nil if a member is missing or is no number.
  package init?(_ json: JSONValue) {
    guard let device = json["device"]?.string.flatMap({ UInt64($0) }),
      let inode = json["inode"]?.string.flatMap({ UInt64($0) }), let size = json["size"]?.integer,
      let seconds = json["modified_seconds"]?.integer, let nanoseconds = json["modified_nanoseconds"]?.integer,
      let changedSeconds = json["changed_seconds"]?.integer,
      let changedNanoseconds = json["changed_nanoseconds"]?.integer
    else { return nil }
    identity = FileIdentity(
      device: device, inode: inode, size: size, modifiedSeconds: seconds, modifiedNanoseconds: nanoseconds, edges: "")
    changed = StatusTime(seconds: changedSeconds, nanoseconds: changedNanoseconds)
  }
}

/// Whether a program has a file open for writing, or mapped.
package enum FileWriters: Equatable, Sendable {
  case noWriter
  case writer
  /// The file system, or the permissions of this process, never allow it to tell.
  case undetectable(SystemError)
  /// A passing fault, such as too many open files: another attempt may tell.
  case notNow(SystemError)
}
