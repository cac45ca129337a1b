import CShims

/// A second thread that digests runs of the ring while the first one sends them. What runs on it is `CShims/File/hashing.c`.
///
/// Bytes are digested in place. Until that is done, they must not be overwritten.
final class HashThread {
  private let pointer: OpaquePointer
  /// For poll(2), after a call of ``notify(doneWith:)``. Created once, because a wait must not allocate.
  let descriptors: [Int32]

  /// nil if no thread can be created.
  init?() {
    guard let pointer = shim_hasher_start() else { return nil }
    self.pointer = pointer
    descriptors = [shim_hasher_descriptor(pointer)]
  }

  deinit { shim_hasher_end(pointer) }

  /// Submits bytes.
  /// - Parameter mark: identifies the bytes; 0 or more, and growing.
  /// - Returns: false if too many are pending.
  func digest(_ bytes: UnsafeRawBufferPointer, into context: OpaquePointer, mark: Int64) -> Bool {
    shim_hasher_take(pointer, context, bytes.baseAddress, bytes.count, mark) != 0
  }

  /// The mark of the oldest pending bytes; nil if there are none.
  var oldestMark: Int64? {
    let mark = shim_hasher_oldest(pointer)
    return mark == Int64(SHIM_HASHER_IDLE) ? nil : mark
  }

  /// Requests an event when the oldest bytes, those with this mark, are done.
  /// - Returns: false if they are done already.
  func notify(doneWith mark: Int64) -> Bool { shim_hasher_notify(pointer, mark) != 0 }

  /// Waits until nothing is pending, which takes as long as digesting a few runs.
  /// - Returns: false if a digest failed.
  @discardableResult
  func wait() -> Bool { shim_hasher_wait(pointer) != 0 }
}
