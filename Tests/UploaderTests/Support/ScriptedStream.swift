@testable import Uploader

/// A connection that behaves as a test says: what each write takes, and what becomes readable after how many bytes.
final class ScriptedStream: ByteStream {
  /// What one write comes to.
  enum Take {
    /// At most so many bytes are taken.
    case upTo(Int)
    case notReady
    case failure(SystemError)
  }

  enum Event {
    case bytes([UInt8])
    case end
    case failure(StreamError)
  }

  let descriptor: Int32 = -1
  private(set) var written: [UInt8] = []
  var unacknowledgedLength = 0

  /// Is asked at every write.
  var nextTake: () -> Take = { .upTo(.max) }
  /// Does the stream still hold back some of what it has taken, as TLS does with records?
  var holdsBack = false
  /// Does the stream have something of its own to say, which the next flush passes on?
  var holdsBytes = false
  /// Is told after every write that took something how many bytes have been written in all.
  var onWrite: (Int) -> Void = { _ in }
  private var events: [(due: Int, event: Event)] = []

  /// Adds what can be read once so many bytes have been written. The events come in the order in which they were added.
  func then(_ event: Event, afterWritten due: Int = 0) { events.append((due, event)) }

  func thenAnswer(_ text: String, afterWritten due: Int = 0) { then(.bytes(Array(text.utf8)), afterWritten: due) }

  var isReadable: Bool { events.first.map { written.count >= $0.due } ?? false }

  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead {
    guard isReadable, let (due, event) = events.first else { return .notReady }
    switch event {
    case .bytes(let bytes):
      let count = min(bytes.count, space.count)
      space.copyBytes(from: bytes[..<count])
      if count < bytes.count { events[0] = (due, .bytes(Array(bytes[count...]))) } else { events.removeFirst() }
      return .bytes(count)
    // An ended stream stays ended.
    case .end: return .end
    case .failure(let error): throw error
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) -> Int {
    switch nextTake() {
    case .notReady: return 0
    case .failure(let error): throw .system(error)
    case .upTo(let limit):
      let count = min(limit, bytes.count)
      written.append(contentsOf: bytes.prefix(count))
      onWrite(written.count)
      return count
    }
  }

  /// Scripts are about bytes that pass through the ring.
  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int? { nil }

  func flush() throws(StreamError) -> Bool {
    if !holdsBack { holdsBytes = false }
    return !holdsBack
  }

  func closeNotify() {}
}
