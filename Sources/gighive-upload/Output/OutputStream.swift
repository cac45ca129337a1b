import CShims
import Uploader

/// One of the standard streams: what was said to it, written as it is taken.
final class OutputStream {
  let descriptor: Int32
  let queue = OutputQueue(capacity: Limits.outputCapacity)
  /// Why nothing more is written to it.
  private(set) var failure: SystemError?

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Has somebody to take something first?
  var isBlocked: Bool { !queue.isEmpty }

  /// Writes what is taken at once. Allocates nothing.
  /// - Returns: false if it failed just now.
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

  /// Takes a text; what was said to a stream that has failed is lost.
  func add(_ text: String, _ kind: OutputQueue.Kind) {
    var text = text
    text.withUTF8 { queue.add(UnsafeRawBufferPointer($0), kind) }
    if failure != nil { queue.abandon() }
  }
}
