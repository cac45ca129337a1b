import CShims
import UploadCore

extension FileIdentity {
  init(_ status: shim_file_status, hasStableInode: Bool = true, edges: String = "") {
    self.init(
      device: status.device, inode: hasStableInode ? status.inode : 0, size: status.size,
      modifiedSeconds: status.modified_seconds, modifiedNanoseconds: status.modified_nanoseconds, edges: edges)
  }
}

extension StatusTime {
  init(_ status: shim_file_status) {
    self.init(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds)
  }

  /// Whether at least a second has passed since, by the clock that sets it.
  var isPast: Bool { shim_unix_seconds() > seconds + 1 }
}
