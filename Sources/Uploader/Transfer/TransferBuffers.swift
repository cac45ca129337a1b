import CShims
import UploadCore

/// The buffers that a transfer works with, and the thread that digests what is in them. Made once and handed from one
/// transfer to the next.
///
/// Where a second thread digests, the ring is used as two halves: one is read into and sent while the other may still be
/// digested (docs/decisions/0006).
final class TransferBuffers {
  var ring: RingBuffer
  let received = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.receiveLength, alignment: 16)
  /// Where in it the bytes are that came behind an answer.
  var unread = 0..<0

  /// What one read puts into the ring and one write takes from it, in bytes.
  private(set) var runLength: Int
  /// The same where this thread digests, or nobody does.
  private let ownRunLength: Int

  /// May there be a second thread?
  private let mayHaveThread: Bool
  private var thread: HashThread?
  /// Does it digest what goes through the ring now?
  private(set) var usesThread = false

  /// - Parameters:
  ///   - jobs: how many uploads at a time share the memory: the ring, and also what is touched of it.
  ///   - processors: how many this process may use. Several jobs keep them busy without further threads.
  ///   - thread: one that is there already.
  init(jobs: Int = 1, processors: Int = Int(shim_processor_count()), thread: HashThread? = nil) {
    ring = RingBuffer(capacity: Limits.ringCapacity / jobs)
    ownRunLength = max(Limits.runLength / jobs, Limits.runMinimumLength)
    runLength = ownRunLength
    self.thread = thread
    mayHaveThread = jobs == 1 && processors > 1
  }

  deinit {
    // A digest may keep the thread longer than the ring is there.
    thread?.wait()
    received.deallocate()
  }

  /// Empties the ring for what comes next.
  /// - Parameter digestedLength: how many bytes of a file will pass it and are digested.
  func clear(digestedLength: Int64 = 0) {
    unread = 0..<0
    thread?.wait()
    usesThread = mayHaveThread && digestedLength >= Limits.hashThreadFrom
    if usesThread, thread == nil {
      thread = HashThread()
      usesThread = thread != nil
    }
    runLength = usesThread ? Limits.hashedRunLength : ownRunLength
    ring.removeAll(window: usesThread ? 2 * Limits.hashedRunLength : nil)
  }

  /// Where one read of the file may go: empty while the digest needs all of it.
  var fileRun: UnsafeMutableRawBufferPointer {
    let space = ring.writableRun
    // Runs end where the halves do, behind whatever framing they began with.
    let length = usesThread ? runLength - Int(ring.end % Int64(runLength)) : runLength
    return UnsafeMutableRawBufferPointer(rebasing: space.prefix(length))
  }

  /// Takes the first bytes of ``fileRun`` as read, and lets them be digested.
  /// - Parameter offset: where in the file they are.
  func commit(_ count: Int, at offset: Int64, digest: FileDigest?) {
    if let digest {
      let bytes = UnsafeRawBufferPointer(rebasing: ring.writableRun[..<count])
      digest.update(bytes, at: offset, on: usesThread ? thread : nil, mark: ring.end)
    }
    ring.commit(count)
    if usesThread { ring.keep(from: thread?.oldestMark) }
  }

  /// Is there room again for a read, where a second thread digests?
  func makeRoom() -> Bool {
    guard usesThread, let thread else { return true }
    ring.keep(from: thread.oldestMark)
    return !ring.isFull
  }

  /// What to wait for after ``makeRoom()`` found none; empty if there is room meanwhile.
  var awaitedDescriptors: [Int32] {
    guard let thread, let mark = ring.keptFrom, thread.notify(doneWith: mark) else { return [] }
    return thread.descriptors
  }
}
