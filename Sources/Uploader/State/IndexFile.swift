import CShims
import UploadCore

/// The file `index` of a state directory, locked against other processes while this object exists.
final class IndexFile: IndexStorage {
  private let lock: StateLock

  init(_ lock: StateLock) { self.lock = lock }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    try SmallFile.read(lock.descriptor, count, at: offset)
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    let result = shim_write_at(lock.descriptor, bytes, bytes.count, offset)
    if result < 0 { throw SystemError(result: result) }
  }

  /// Whether the file has this modification time.
  func isModified(at stamp: DirectoryStamp) -> Bool {
    var status = shim_file_status()
    return shim_fstat(lock.descriptor, &status) == 0 && status.modified_seconds == stamp.modifiedSeconds
      && status.modified_nanoseconds == stamp.modifiedNanoseconds
  }

  func setModified(to stamp: DirectoryStamp) {
    _ = shim_set_modified(lock.descriptor, stamp.modifiedSeconds, stamp.modifiedNanoseconds)
  }

  func reset(length: Int64) throws(SystemError) {
    for length in [0, length] {
      let result = shim_set_length(lock.descriptor, length)
      if result < 0 { throw SystemError(result: result) }
    }
  }
}
