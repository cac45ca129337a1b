import CShims

/// A lock, held while this object exists. The kernel releases it when the process ends in any way.
package final class StateLock {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }

  /// Whether other users cannot read its file, nor then the records beside it. On FAT, that depends on how it is mounted.
  var isPrivate: Bool {
    var status = shim_file_status()
    return shim_fstat(descriptor, &status) == 0 && status.mode & 0o077 == 0
  }
}
