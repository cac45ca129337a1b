import CShims

/// A lock, held while this object exists. The kernel releases it when the process ends in any way.
package final class StateLock {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }
}
