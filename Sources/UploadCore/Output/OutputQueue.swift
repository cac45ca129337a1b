/// What a program has said and nobody has taken yet: whole lines, in their order, in a fixed room.
///
/// A reader that is slow, or has stopped reading, costs what is least worth first: progress is left out as soon as anything
/// waits, remarks when a quarter of the room is taken. From half of it on nothing new should begin (``admitsWork``): the
/// other half is for the results of what is under way. A line that finds no room is counted if it is a result.
///
/// Nothing is allocated after `init`, so that what waits can still be written when there is no memory left.
package final class OutputQueue {
  /// What a line is worth.
  package enum Kind {
    /// The next one says the same and more. Is taken only if nothing waits.
    case progress
    /// What a reader can do without, such as why a try has failed.
    case remark
    /// A sentence, or the beginning of a file: kept as long as there is room.
    case message
    /// What became of a file. Is counted where it is lost.
    case result
  }

  /// In front of each line: its length, and in the highest bit whether it is a result.
  private static let headerLength = 4
  private static let resultBit: UInt32 = 1 << 31

  private let storage: UnsafeMutableRawBufferPointer
  /// Where the oldest line's header is, and the end of the newest line.
  private var first = 0
  private var end = 0
  /// How much of the oldest line has been taken, in bytes.
  private var taken = 0
  /// Results that wait, and that were lost.
  package private(set) var waitingResultCount = 0
  package private(set) var lostResultCount = 0

  /// - Parameter capacity: in bytes, greater than zero. Pages become resident when they are first written.
  package init(capacity: Int) {
    precondition(capacity > 0 && capacity < Int(Int32.max))
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  }

  deinit { storage.deallocate() }

  /// Does nothing wait?
  package var isEmpty: Bool { first == end }

  /// Is there room for the results of further work?
  package var admitsWork: Bool { end - first <= storage.count / 2 }

  /// Is there room for this many bytes of a line?
  package func hasRoom(for length: Int, _ kind: Kind) -> Bool {
    let needed = end - first + length + OutputQueue.headerLength
    return switch kind {
    case .progress: isEmpty && needed <= storage.count
    case .remark: needed <= storage.count / 4
    case .message, .result: needed <= storage.count
    }
  }

  /// Takes a line, or leaves it out.
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

  /// The first `count` bytes of ``next`` have been taken.
  package func take(_ count: Int) {
    precondition(count >= 0 && count <= next.count)
    taken += count
    guard !isEmpty, taken == length else { return }
    if isResult { waitingResultCount -= 1 }
    first += OutputQueue.headerLength + length
    taken = 0
    if isEmpty { (first, end) = (0, 0) }
  }

  /// Lets go of everything: nobody will take it any more.
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
