/// Output that has not been written yet: whole lines, in order, in a buffer of fixed size.
///
/// When the reader is slow or has stopped, the least important lines are dropped first: progress as soon as anything waits,
/// remarks when a quarter of the buffer is used. When half of it is used, no new work should start (``admitsWork``). The other
/// half is for the results of work in progress. Dropped results are counted.
///
/// Nothing is allocated after `init`, so that waiting lines can still be written when memory has run out.
package final class OutputQueue {
  package enum Kind {
    /// Superseded by the next one. Kept only if nothing waits.
    case progress
    /// Dispensable, such as why an attempt failed.
    case remark
    /// A message, or the start of a file: kept while there is room.
    case message
    /// The outcome of a file. Counted if lost.
    case result
  }

  /// The header of each line: its length, and in the highest bit whether it is a result.
  private static let headerLength = 4
  private static let resultBit: UInt32 = 1 << 31

  private let storage: UnsafeMutableRawBufferPointer
  /// The start of the oldest line's header, and the end of the newest line.
  private var first = 0
  private var end = 0
  /// How much of the oldest line was written, in bytes.
  private var taken = 0
  /// The numbers of waiting and of lost results.
  package private(set) var waitingResultCount = 0
  package private(set) var lostResultCount = 0

  /// - Parameter capacity: in bytes, greater than zero. Pages become resident when they are first written.
  package init(capacity: Int) {
    precondition(capacity > 0 && capacity < Int(Int32.max))
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  }

  deinit { storage.deallocate() }

  package var isEmpty: Bool { first == end }

  /// Whether there is room for the results of further work.
  package var admitsWork: Bool { end - first <= storage.count / 2 }

  /// Whether there is room for a line of this length, in bytes.
  package func hasRoom(for length: Int, _ kind: Kind) -> Bool {
    let needed = end - first + length + OutputQueue.headerLength
    return switch kind {
    case .progress: isEmpty && needed <= storage.count
    case .remark: needed <= storage.count / 4
    case .message, .result: needed <= storage.count
    }
  }

  /// Adds a line, or drops it.
  package func add(_ line: UnsafeRawBufferPointer, _ kind: Kind) {
    guard hasRoom(for: line.count, kind) else {
      if kind == .result { lostResultCount += 1 }
      return
    }
    if line.isEmpty { return }
    if storage.count - end < line.count + OutputQueue.headerLength { moveToFront() }
    var header = UInt32(line.count)
    if kind == .result {
      header |= OutputQueue.resultBit
      waitingResultCount += 1
    }
    storage.storeBytes(of: header, toByteOffset: end, as: UInt32.self)
    let place = end + OutputQueue.headerLength
    UnsafeMutableRawBufferPointer(rebasing: storage[place..<place + line.count]).copyMemory(from: line)
    end = place + line.count
  }

  /// The rest of the oldest line; empty if nothing waits. Valid until the next change.
  package var next: UnsafeRawBufferPointer {
    if isEmpty { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let line = first + OutputQueue.headerLength
    return UnsafeRawBufferPointer(rebasing: storage[line + taken..<line + length])
  }

  /// The first `count` bytes of ``next`` were written.
  package func take(_ count: Int) {
    precondition(count >= 0 && count <= next.count)
    taken += count
    guard !isEmpty, taken == length else { return }
    if isResult { waitingResultCount -= 1 }
    first += OutputQueue.headerLength + length
    taken = 0
    if isEmpty { (first, end) = (0, 0) }
  }

  /// Drops everything, because nothing more can be written.
  package func abandon() {
    lostResultCount += waitingResultCount
    (first, end, taken, waitingResultCount) = (0, 0, 0, 0)
  }

  // MARK: The oldest line

  private var header: UInt32 { storage.loadUnaligned(fromByteOffset: first, as: UInt32.self) }
  private var length: Int { Int(header & ~OutputQueue.resultBit) }
  private var isResult: Bool { header & OutputQueue.resultBit != 0 }

  private func moveToFront() {
    let waiting = UnsafeRawBufferPointer(rebasing: storage[first..<end])
    UnsafeMutableRawBufferPointer(rebasing: storage[0..<waiting.count]).copyMemory(from: waiting)
    (first, end) = (0, waiting.count)
  }
}
