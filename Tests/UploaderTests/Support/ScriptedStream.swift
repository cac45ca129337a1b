@testable import Uploader

/// A scripted connection: how much each write accepts, and what becomes readable after how many bytes.
final class ScriptedStream: ByteStream {
  /// The result of a write.
  enum Take {
    /// Accepts at most this many bytes.
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

  /// Called at every write.
  var nextTake: () -> Take = { .upTo(.max) }
  /// Whether files bypass the ring, as with sendfile(2).
  var sendsFiles = false
  /// Whether the stream still holds some accepted bytes, like TLS records.
  var holdsBack = false
  /// Whether the stream has its own bytes to send with the next flush.
  var holdsBytes = false
  /// Whether reading sends them, like TLS messages that need a reply.
  var flushesWhileReading = false
  /// Called with the total number of bytes after every successful write.
  var onWrite: (Int) -> Void = { _ in }
  private var events: [(due: Int, event: Event)] = []

  /// Adds bytes that become readable once this many bytes were written. Events occur in the order in which they were added.
  func then(_ event: Event, afterWritten due: Int = 0) { events.append((due, event)) }

  func thenAnswer(_ text: String, afterWritten due: Int = 0) { then(.bytes(Array(text.utf8)), afterWritten: due) }

  var isReadable: Bool { events.first.map { written.count >= $0.due } ?? false }

  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead {
    if flushesWhileReading { (holdsBytes, holdsBack) = (false, false) }
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

  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int? {
    guard sendsFiles else { return nil }
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { space.deallocate() }
    do throws(FileError) { _ = try file.read(into: space, at: offset) } catch { throw .file(error) }
    do throws(StreamError) { return try write(UnsafeRawBufferPointer(space)) } catch { throw .stream(error) }
  }

  func flush() throws(StreamError) -> Bool {
    if !holdsBack { holdsBytes = false }
    return !holdsBack
  }

  func closeNotify() {}
}
