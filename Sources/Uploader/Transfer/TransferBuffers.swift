import CShims
import UploadCore

/// The buffers of a transfer, and the thread that digests their content. They are created once and reused by the next transfer.
///
/// With a hash thread, the ring has two halves: one is filled and sent while the other may still be digested
/// (docs/internals/decisions/0006).
final class TransferBuffers {
  var ring: RingBuffer
  let received: UnsafeMutableRawBufferPointer
  /// The range of bytes after a response that were not consumed.
  var unread = 0..<0

  /// The most that one read puts into the ring and one write takes from it, in bytes.
  private(set) var runLength: Int
  /// The same without a hash thread.
  private let ownRunLength: Int

  private let mayHaveThread: Bool
  private var thread: HashThread?
  /// Whether the hash thread digests the current content of the ring.
  private(set) var usesThread = false

  /// - Parameters:
  ///   - jobs: the number of concurrent uploads that share the memory: the ring, and how much of it is touched.
  ///   - processors: how many this process may use. Several jobs keep them busy without more threads.
  ///   - thread: an existing thread to use.
  init(jobs: Int = 1, processors: Int = Int(shim_processor_count()), thread: HashThread? = nil) {
    ring = RingBuffer(capacity: Limits.ringCapacity / jobs)
    received = .allocate(byteCount: Limits.receiveLength, alignment: 16)
    ownRunLength = max(Limits.runLength / jobs, Limits.runMinimumLength)
    runLength = ownRunLength
    self.thread = thread
    mayHaveThread = jobs == 1 && processors > 1
  }

  /// Those of a further connection of an upload.
  init(forHelping: Void) {
    ring = RingBuffer(capacity: Limits.connectionRunLength)
    received = .allocate(byteCount: Limits.receiveLength, alignment: 16)
    ownRunLength = Limits.connectionRunLength
    runLength = ownRunLength
    mayHaveThread = false
  }

  /// Small ones, for requests without a file.
  init(forWaiting: Void) {
    ring = RingBuffer(capacity: Limits.waitingRunLength)
    received = .allocate(byteCount: Limits.waitingRunLength, alignment: 16)
    ownRunLength = Limits.waitingRunLength
    runLength = ownRunLength
    mayHaveThread = false
  }

  deinit {
    // A digest may keep the thread busy longer than the ring exists.
    thread?.wait()
    received.deallocate()
  }

  /// Empties the ring.
  /// - Parameter digestedLength: how many bytes of the file will pass through it and be digested.
  func clear(digestedLength: Int64 = 0) {
    unread = 0..<0
    thread?.wait()
    usesThread = digestedLength >= Limits.hashThreadFrom && startThread() != nil
    runLength = usesThread ? Limits.hashedRunLength : ownRunLength
    ring.removeAll(window: usesThread ? 2 * Limits.hashedRunLength : nil)
  }

  /// nil if there may be none, or it cannot be created.
  private func startThread() -> HashThread? {
    if mayHaveThread, thread == nil { thread = HashThread() }
    return thread
  }

  /// Begins to digest what is sent after the current transfer; nil without a hash thread.
  func hashAhead(_ range: HashRange, of file: SourceFile) -> HashAhead? {
    startThread().flatMap { HashAhead(range, of: file, on: $0) }
  }

  /// The buffer for the next read of the file; empty while the digest needs the whole ring.
  var fileRun: UnsafeMutableRawBufferPointer {
    let space = ring.writableRun
    // Runs end where the halves end, whatever framing they start with.
    let length = usesThread ? runLength - Int(ring.end % Int64(runLength)) : runLength
    return UnsafeMutableRawBufferPointer(rebasing: space.prefix(length))
  }

  /// Marks the first bytes of ``fileRun`` as read, and submits them to the digest.
  /// - Parameter offset: their offset in the file.
  func commit(_ count: Int, at offset: Int64, digest: FileDigest?) {
    if let digest {
      let bytes = UnsafeRawBufferPointer(rebasing: ring.writableRun[..<count])
      digest.update(bytes, at: offset, on: usesThread ? thread : nil, mark: ring.end)
    }
    ring.commit(count)
    if usesThread { ring.keep(from: thread?.oldestMark) }
  }

  /// Whether there is room for a read, with a hash thread.
  func makeRoom() -> Bool {
    guard usesThread, let thread else { return true }
    ring.keep(from: thread.oldestMark)
    return !ring.isFull
  }

  /// The descriptors to wait for after ``makeRoom()`` returned false; empty if there is room now.
  var awaitedDescriptors: [Int32] {
    guard let thread, let mark = ring.keptFrom, thread.notify(doneWith: mark) else { return [] }
    return thread.descriptors
  }
}

extension Limits {
  /// The ring buffers that every byte of a body passes through, in bytes. Allocated once, and divided among concurrent
  /// uploads.
  static let ringCapacity = 4 << 20
  /// ``runLength`` with a hash thread: one run is sent while the previous one is digested (docs/internals/decisions/0006).
  static let hashedRunLength = 256 << 10
  /// The least file content, in bytes, for which the hash thread is used: several runs.
  static let hashThreadFrom: Int64 = 2 << 20
  /// The least run length of each of several concurrent uploads, in bytes.
  static let runMinimumLength = 64 << 10
}
