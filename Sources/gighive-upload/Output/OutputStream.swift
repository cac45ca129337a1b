import CShims
import Uploader

/// One of the standard streams, with its queued output.
final class OutputStream {
  let descriptor: Int32
  let queue = OutputQueue(capacity: Limits.outputCapacity)
  /// The error after which nothing more is written.
  private(set) var failure: SystemError?

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Whether output is pending.
  var isBlocked: Bool { !queue.isEmpty }

  /// Writes what the stream accepts at once. Allocates nothing.
  /// - Returns: false if it has just failed.
  func write() -> Bool {
    while !queue.isEmpty {
      let rest = queue.next
      let count = shim_write_some(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        queue.take(Int(count))
      } else if count == Int64(-SHIM_EAGAIN) {
        return true
      } else {
        failure = SystemError(result: count)
        queue.abandon()
        return false
      }
    }
    return true
  }

  /// Queues text. Output to a failed stream is lost.
  func add(_ text: String, _ kind: OutputQueue.Kind) {
    var text = text
    text.withUTF8 { queue.add(UnsafeRawBufferPointer($0), kind) }
    if failure != nil { queue.abandon() }
  }
}
