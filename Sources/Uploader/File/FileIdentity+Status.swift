import CShims
import UploadCore

extension FileIdentity {
  init(_ status: shim_file_status, on kind: FileSystem.Kind = .stable, edges: String = "") {
    self.init(
      device: status.device, inode: kind == .stable ? status.inode : 0, hasLocalTimes: kind == .fat, size: status.size,
      modifiedSeconds: status.modified_seconds, modifiedNanoseconds: status.modified_nanoseconds, edges: edges)
  }
}

extension FileSighting {
  package init(_ status: shim_file_status, on kind: FileSystem.Kind = .stable) {
    self.init(identity: FileIdentity(status, on: kind), changed: StatusTime(status))
  }

  /// - Returns: nil if there is no such file.
  init?(at path: LocalPath) {
    var status = shim_file_status()
    guard let name = path.cString, shim_stat(name, &status) == 0 else { return nil }
    self.init(status)
  }
}

extension StatusTime {
  init(_ status: shim_file_status) {
    self.init(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds)
  }

  /// Whether at least a second has passed since, by the clock that sets it. A clock that starts in 1970 at each boot gives the same time
  /// again.
  var isPast: Bool { seconds >= Limits.clocksAreSetSince && shim_unix_seconds() - 1 > seconds }
}
