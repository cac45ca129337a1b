import UploadCore

/// The buffers that a transfer works with. Allocated once and handed from one transfer to the next.
final class TransferBuffers {
  var ring: RingBuffer
  let received = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.receiveLength, alignment: 16)

  /// What one read puts into the ring and one write takes from it, in bytes.
  let runLength: Int

  /// - Parameter jobs: how many uploads at a time share the memory: the ring, and also what is touched of it.
  init(jobs: Int = 1) {
    ring = RingBuffer(capacity: Limits.ringCapacity / jobs)
    runLength = max(Limits.runLength / jobs, Limits.runMinimumLength)
  }

  deinit { received.deallocate() }
}
