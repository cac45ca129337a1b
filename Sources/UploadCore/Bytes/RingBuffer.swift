/// A fixed ring of bytes: the only place in the program that holds a part of the file.
///
/// It hands out contiguous runs, so that `pread` writes straight into it and the socket reads straight from it. When it
/// is empty it starts again at its first byte: a fast network then touches few of its pages, which stay in the
/// processor's cache, and the others never become resident.
///
/// Invariants: `0 <= count <= capacity`, `0 <= start < capacity`; the bytes in use are `start ..< start + count`, modulo
/// the capacity.
/// Public, unlike the rest of the core: Embedded Swift cannot destroy a non-copyable value of another module otherwise.
public struct RingBuffer: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  private var start = 0
  /// Bytes that were committed and not yet consumed.
  public private(set) var count = 0

  /// Allocates the ring. Pages become resident when they are first written.
  /// - Parameter capacity: bytes, above zero.
  public init(capacity: Int) {
    precondition(capacity > 0)
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 4096)
  }

  deinit { storage.deallocate() }

  /// Bytes that fit into it.
  public var capacity: Int { storage.count }
  /// Is nothing left to be read?
  public var isEmpty: Bool { count == 0 }
  /// Is no room left?
  public var isFull: Bool { count == storage.count }

  /// The longest contiguous run that can be written now; empty when the ring is full. Valid until the next mutation.
  public var writableRun: UnsafeMutableRawBufferPointer {
    let end = start + count
    if end < storage.count {
      return UnsafeMutableRawBufferPointer(rebasing: storage[end...])
    }
    return UnsafeMutableRawBufferPointer(rebasing: storage[(end - storage.count)..<start])
  }

  /// The longest contiguous run that can be read now; empty when the ring is. Valid until the next mutation.
  public var readableRun: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: storage[start..<min(start + count, storage.count)])
  }

  /// Takes the first `length` bytes of `writableRun` as written.
  public mutating func commit(_ length: Int) {
    precondition(length >= 0 && length <= capacity - count)
    count += length
  }

  /// Gives back the first `length` bytes of `readableRun`.
  public mutating func consume(_ length: Int) {
    precondition(length >= 0 && length <= count)
    count -= length
    start = count == 0 ? 0 : (start + length) % storage.count
  }

  /// Forgets what it holds.
  public mutating func removeAll() {
    start = 0
    count = 0
  }
}
