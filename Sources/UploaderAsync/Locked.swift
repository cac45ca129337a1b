import CShims

/// A value that one thread at a time can use.
///
/// Like `Synchronization.Mutex`, but over the C library's mutex: the thread sanitizer does not see the futexes under Swift's, and
/// reports what they protect as soon as two threads want it at once.
final class Locked<Value>: @unchecked Sendable {
  private let mutex = shim_mutex_create()
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
  }

  deinit { shim_mutex_release(mutex) }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    shim_mutex_lock(mutex)
    defer { shim_mutex_unlock(mutex) }
    return body(&value)
  }
}
