import CShims
import Uploader

/// A small file that is replaced as a whole, so that its readers see either the previous or the new content. It is not synced, because
/// it is not needed after a power cut.
struct AtomicFile {
  let path: LocalPath
  /// Whether all users can read it, and not only its owner.
  let isForAll: Bool

  /// - Throws: why the previous content stays.
  func replace(_ text: String) throws(SystemError) {
    guard let name = path.cString, let temporary = path.appending(".new").cString else {
      throw SystemError(code: SHIM_EINVAL)
    }
    let descriptor = shim_open_for_writing(temporary, Int32(SHIM_OPEN_TRUNCATE))
    guard descriptor >= 0 else {
      throw SystemError(code: Int(descriptor) == SHIM_NOT_REGULAR ? SHIM_EINVAL : -descriptor)
    }
    var text = text
    var result = text.withUTF8 { shim_write_all(descriptor, $0.baseAddress, $0.count) }
    if result == 0, isForAll { result = shim_let_all_read(descriptor) }
    let closed = shim_close(descriptor)
    if result == 0 { result = closed }
    if result == 0 { result = shim_rename(temporary, name) }
    guard result == 0 else {
      _ = shim_unlink(temporary)
      throw SystemError(result: result)
    }
  }

  func remove() { _ = path.cString.map { shim_unlink($0) } }
}
