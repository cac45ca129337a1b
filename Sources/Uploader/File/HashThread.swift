import CShims

/// A second thread that digests runs of the ring while the first one sends them.
///
/// It is handed bytes where they are. Until it is done with them, nobody may write there.
final class HashThread {
  private let pointer: OpaquePointer
  /// For poll(2), once ``notify(doneWith:)`` was asked for. Made once, since a wait allocates nothing.
  let descriptors: [Int32]

  /// - Returns: nil if no thread can be had.
  init?() {
    guard let pointer = shim_hasher_start() else { return nil }
    self.pointer = pointer
    descriptors = [shim_hasher_descriptor(pointer)]
  }

  deinit { shim_hasher_end(pointer) }

  /// Hands bytes over.
  /// - Parameter mark: what the bytes are called; 0 or more, and higher than those before.
  /// - Returns: false if too many are under way.
  func digest(_ bytes: UnsafeRawBufferPointer, into context: OpaquePointer, mark: Int64) -> Bool {
    shim_hasher_take(pointer, context, bytes.baseAddress, bytes.count, mark) != 0
  }

  /// The mark of the oldest bytes that are under way; nil if none are.
  var oldestMark: Int64? {
    let mark = shim_hasher_oldest(pointer)
    return mark == Int64(SHIM_HASHER_IDLE) ? nil : mark
  }

  /// Asks for an event when the oldest bytes, those of this mark, are done.
  /// - Returns: false if they are already.
  func notify(doneWith mark: Int64) -> Bool { shim_hasher_notify(pointer, mark) != 0 }

  /// Waits until nothing is under way: the time that the digest of a few runs takes.
  /// - Returns: false if a digest has failed.
  @discardableResult
  func wait() -> Bool { shim_hasher_wait(pointer) != 0 }
}
