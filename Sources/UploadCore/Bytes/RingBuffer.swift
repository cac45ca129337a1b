/// A fixed ring of bytes: the only place in the program that holds file content.
///
/// It provides contiguous runs, so that `pread` writes directly into it and the socket reads directly from it. When it is
/// empty it starts again at its first byte. On a fast network only a few pages are then touched, which stay in the
/// processor's cache, and the others never become resident.
///
/// A second reader may still need consumed bytes. Bytes kept for it (``keep(from:)``) are not overwritten.
///
/// Invariants: `0 <= count <= window <= capacity`. The index of a byte is its position modulo the window. The bytes in use
/// end at `end` and start at `end - count` or at the first kept byte, whichever is lower; there are at most `window` of
/// them. If there are none, `end` is 0.
/// Public, unlike the rest of the core: Embedded Swift cannot destroy a non-copyable value of another module otherwise.
public struct RingBuffer: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  /// How much of its storage is used, in bytes.
  public private(set) var window: Int
  /// The position after the last committed byte, counted from when no byte was in use.
  public private(set) var end: Int64 = 0
  /// The number of bytes committed and not yet consumed.
  public private(set) var count = 0
  /// The number of bytes consumed but kept.
  private var keptCount = 0
  /// The position of the first byte that the second reader needs; nil if it needs none.
  public private(set) var keptFrom: Int64?

  /// Allocates the ring. Pages become resident when they are first written.
  /// - Parameter capacity: in bytes, greater than zero.
  public init(capacity: Int) {
    precondition(capacity > 0)
    // A small one begins anywhere in a page, because many would waste almost as many pages.
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: capacity > 4096 ? 4096 : 16)
    window = capacity
  }

  deinit { storage.deallocate() }

  /// The capacity in bytes.
  public var capacity: Int { storage.count }
  /// Whether there is nothing to read.
  public var isEmpty: Bool { count == 0 }
  /// Whether there is no room left.
  public var isFull: Bool { count + keptCount == window }

  /// The longest contiguous run that can be written now; empty when the ring is full. Valid until the next mutation.
  public var writableRun: UnsafeMutableRawBufferPointer {
    let first = place(end)
    let room = window - count - keptCount
    return UnsafeMutableRawBufferPointer(rebasing: storage[first..<min(first + room, window)])
  }

  /// A contiguous run without bytes in use, for reading file content that is not sent. Valid until the next mutation.
  public var spareRun: UnsafeMutableRawBufferPointer {
    window < capacity ? UnsafeMutableRawBufferPointer(rebasing: storage[window...]) : writableRun
  }

  /// The longest contiguous run that can be read now; empty when the ring is. Valid until the next mutation.
  public var readableRun: UnsafeRawBufferPointer {
    let first = place(end - Int64(count))
    return UnsafeRawBufferPointer(rebasing: storage[first..<min(first + count, window)])
  }

  /// Marks the first `length` bytes of `writableRun` as written.
  public mutating func commit(_ length: Int) {
    precondition(length >= 0 && length <= window - count - keptCount)
    count += length
    end += Int64(length)
  }

  /// Marks the first `length` bytes of `readableRun` as read.
  public mutating func consume(_ length: Int) {
    precondition(length >= 0 && length <= count)
    count -= length
    updateKept()
  }

  /// Keeps all bytes from a position on for a second reader, including bytes committed later; nil keeps none.
  /// - Parameter position: that of a byte in use, or of the next byte to be committed.
  public mutating func keep(from position: Int64?) {
    if let position { precondition(position <= end && position >= end - Int64(count + keptCount)) }
    keptFrom = position
    updateKept()
  }

  /// Removes all bytes.
  /// - Parameter window: how many bytes of the storage to use from now on; nil for all.
  public mutating func removeAll(window: Int? = nil) {
    precondition(window.map { $0 > 0 && $0 <= capacity } ?? true)
    self.window = window ?? capacity
    count = 0
    keep(from: nil)
  }

  private func place(_ position: Int64) -> Int { Int(position % Int64(window)) }

  private mutating func updateKept() {
    let consumed = end - Int64(count)
    keptCount = Int(max(0, consumed - (keptFrom ?? consumed)))
    // Nothing is kept, not even bytes committed later.
    if count == 0, keptFrom == nil { end = 0 }
  }
}
