import CShims
import UploadCore

extension FileWriters {
  /// Asks now. Nothing is held afterwards, so that no program that opens the file has to wait.
  package init(of descriptor: Int32) {
    let result = shim_writers(descriptor)
    switch result {
    case 0: self = .none
    case 1: self = .some
    default:
      let error = SystemError(result: result)
      self = FileWriters.isPassing(error) ? .notNow(error) : .unknown(error)
    }
  }

  /// Whether the error says something about this moment, not about the file system or the permissions.
  package static func isPassing(_ error: SystemError) -> Bool {
    [SHIM_EMFILE, SHIM_ENFILE, SHIM_EIO, SHIM_ENOMEM, SHIM_EAGAIN].contains(error.code)
  }
}
