import CShims

/// Held as long as it lives. The kernel gives it back when the process ends, however it ends.
package final class StateLock {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }
}
