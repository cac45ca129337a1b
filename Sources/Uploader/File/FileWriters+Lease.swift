import CShims
import UploadCore

extension FileWriters {
  /// Asks now. Nothing is held afterwards, so that no program that opens the file has to wait.
  package init(of descriptor: Int32) {
    // What another machine does with the file, the kernel does not know.
    if FileSystem.isShared(type: shim_file_system_type(descriptor)) {
      self = .undetectable(SystemError(code: SHIM_EOPNOTSUPP))
      return
    }
    let result = shim_writers(descriptor)
    switch SystemError(result: result) {
    case _ where result == 0: self = .noWriter
    case SystemError(code: SHIM_EAGAIN): self = .writer
    case let error where error.isPassing: self = .notNow(error)
    case let error: self = .undetectable(error)
    }
  }
}

extension SystemError {
  /// Whether it says something about this moment, not about the file system or the permissions: a limit of this machine is reached, the
  /// disk has failed, or another process has a lease.
  package var isPassing: Bool { [SHIM_EMFILE, SHIM_ENFILE, SHIM_EIO, SHIM_ENOMEM, SHIM_EAGAIN].contains(code) }

  /// Of an attempt to open a file without waiting: another process has a lease on it.
  var isLease: Bool { code == SHIM_EAGAIN }
}
