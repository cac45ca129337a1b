import CShims
import UploadCore

/// Identifies an unchanged directory: its modification time, set back by this program, and when that was done.
struct DirectoryStamp: Equatable {
  let device: UInt64
  let inode: UInt64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64
  /// The ctime, which cannot be set: a directory restored from a backup has another one.
  let changedSeconds: Int64
  let changedNanoseconds: Int64

  init(_ status: shim_file_status) {
    (device, inode) = (status.device, status.inode)
    (modifiedSeconds, modifiedNanoseconds) = (status.modified_seconds, status.modified_nanoseconds)
    (changedSeconds, changedNanoseconds) = (status.changed_seconds, status.changed_nanoseconds)
  }

  /// - Parameter boot: the kernel's boot ID. After a power cut, the index may differ from what was written.
  /// - Returns: a hash; never 0.
  func mark(boot: [UInt8]) -> UInt64 {
    let times = [modifiedSeconds, modifiedNanoseconds, changedSeconds, changedNanoseconds]
    return IndexKey.mark([device, inode] + times.map { UInt64(bitPattern: $0) }, boot: boot)
  }
}
