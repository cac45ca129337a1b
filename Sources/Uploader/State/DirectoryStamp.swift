import CShims
import UploadCore

/// What a directory is known by as long as nobody changes it: its modification time, set back by this program, and when that was.
struct DirectoryStamp: Equatable {
  let device: UInt64
  let inode: UInt64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64
  /// Nobody can set this one: a directory that was brought back from a backup has another.
  let changedSeconds: Int64
  let changedNanoseconds: Int64

  init(_ status: shim_file_status) {
    (device, inode) = (status.device, status.inode)
    (modifiedSeconds, modifiedNanoseconds) = (status.modified_seconds, status.modified_nanoseconds)
    (changedSeconds, changedNanoseconds) = (status.changed_seconds, status.changed_nanoseconds)
  }

  /// - Parameter boot: that of the machine's start. After a power cut, what the index has need not be what it had.
  /// - Returns: not 0.
  func mark(boot: [UInt8]) -> UInt64 {
    let times = [modifiedSeconds, modifiedNanoseconds, changedSeconds, changedNanoseconds]
    return IndexKey.mark([device, inode] + times.map { UInt64(bitPattern: $0) }, boot: boot)
  }
}
