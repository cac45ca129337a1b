/// A fixed ring of bytes: the only place in the program that holds a part of the file.
///
/// It hands out contiguous runs, so that `pread` writes straight into it and the socket reads straight from it. When it
/// is empty it starts again at its first byte: a fast network then touches few of its pages, which stay in the
/// processor's cache, and the others never become resident.
///
/// A second reader may still need bytes that were consumed: what is kept for it (``keep(from:)``) is not handed out for
/// writing.
///
/// Invariants: `0 <= count <= window <= capacity`; a byte's place is its position modulo the window; the bytes in use are
/// those from the lower of `end - count` and what is kept up to `end`, at most `window` of them; with none in use, `end` is 0.
/// Public, unlike the rest of the core: Embedded Swift cannot destroy a non-copyable value of another module otherwise.
public struct RingBuffer: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  /// How much of its storage is used, in bytes.
  public private(set) var window: Int
  /// The position behind the last byte that was committed, counted from when no byte was in use.
  public private(set) var end: Int64 = 0
  /// Bytes that were committed and not yet consumed.
  public private(set) var count = 0
  /// Bytes that were consumed and are kept.
  private var keptCount = 0
  /// Where the bytes begin that the second reader needs; nil if it needs none.
  public private(set) var keptFrom: Int64?

  /// Allocates the ring. Pages become resident when they are first written.
  /// - Parameter capacity: bytes, above zero.
  public init(capacity: Int) {
    precondition(capacity > 0)
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 4096)
    window = capacity
  }

  deinit { storage.deallocate() }

  /// Bytes that fit into it.
  public var capacity: Int { storage.count }
  /// Is nothing left to be read?
  public var isEmpty: Bool { count == 0 }
  /// Is no room left?
  public var isFull: Bool { count + keptCount == window }

  /// The longest contiguous run that can be written now; empty when the ring is full. Valid until the next mutation.
  public var writableRun: UnsafeMutableRawBufferPointer {
    let first = place(end)
    let room = window - count - keptCount
    return UnsafeMutableRawBufferPointer(rebasing: storage[first..<min(first + room, window)])
  }

  /// A contiguous run that holds no byte in use, for a reading that is not to be sent. Valid until the next mutation.
  public var spareRun: UnsafeMutableRawBufferPointer {
    window < capacity ? UnsafeMutableRawBufferPointer(rebasing: storage[window...]) : writableRun
  }

  /// The longest contiguous run that can be read now; empty when the ring is. Valid until the next mutation.
  public var readableRun: UnsafeRawBufferPointer {
    let first = place(end - Int64(count))
    return UnsafeRawBufferPointer(rebasing: storage[first..<min(first + count, window)])
  }

  /// Takes the first `length` bytes of `writableRun` as written.
  public mutating func commit(_ length: Int) {
    precondition(length >= 0 && length <= window - count - keptCount)
    count += length
    end += Int64(length)
  }

  /// Gives back the first `length` bytes of `readableRun`.
  public mutating func consume(_ length: Int) {
    precondition(length >= 0 && length <= count)
    count -= length
    settle()
  }

  /// Keeps the bytes from a position on for a second reader, also those that will be committed; nil keeps none.
  /// - Parameter position: where the next committed byte goes, or a byte that is still in use.
  public mutating func keep(from position: Int64?) {
    if let position { precondition(position <= end && position >= end - Int64(count + keptCount)) }
    keptFrom = position
    settle()
  }

  /// Forgets what it holds.
  /// - Parameter window: how many bytes of its storage to use from now on; nil for all.
  public mutating func removeAll(window: Int? = nil) {
    precondition(window.map { $0 > 0 && $0 <= capacity } ?? true)
    self.window = window ?? capacity
    count = 0
    keep(from: nil)
  }

  private func place(_ position: Int64) -> Int { Int(position % Int64(window)) }

  private mutating func settle() {
    let consumed = end - Int64(count)
    keptCount = Int(max(0, consumed - (keptFrom ?? consumed)))
    // Nothing is kept, not even what will be committed.
    if count == 0, keptFrom == nil { end = 0 }
  }
}
