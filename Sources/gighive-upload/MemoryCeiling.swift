import CShims
import Uploader

/// An allocation that fails ends the program with a sentence; with `--max-memory` the kernel lets them fail early, to hold
/// the process to its promise (RLIMIT_AS).
enum MemoryCeiling {
  /// Prepared beforehand, because nothing can be allocated when they are needed. Written once, before any thread starts.
  nonisolated(unsafe) private static var sentence = UnsafeRawBufferPointer(start: nil, count: 0)
  nonisolated(unsafe) private static var event = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Gets the sentence ready for a machine without memory.
  static func prepare(isJSON: Bool) {
    prepare("there is no memory left for this.", isJSON: isJSON)
    shim_on_out_of_memory { MemoryCeiling.end() }
  }

  private static func prepare(_ message: String, isJSON: Bool) {
    sentence = permanent("gighive-upload: " + message + "\n")
    guard isJSON else { return }
    var line = JSONWriter()
    line.add("event", "failed")
    line.add("exit_code", Int64(ExitCode.memoryCeiling))
    line.add("message", message)
    event = permanent(line.finished() + "\n")
  }

  /// Sets the ceiling.
  /// - Returns: false if the process is over it already, which has then been said.
  static func set(_ bytes: Int64, isJSON: Bool) -> Bool {
    prepare(
      "the memory ceiling of " + SizeText.exact(bytes) + " is too low for this upload; raise --max-memory.",
      isJSON: isJSON)
    if shim_limit_memory(bytes) == 0 { return true }
    tell()
    return false
  }

  private static func end() {
    tell()
    shim_exit_at_once(ExitCode.memoryCeiling)
  }

  private static func tell() {
    _ = shim_write_all(1, event.baseAddress, event.count)
    _ = shim_write_all(2, sentence.baseAddress, sentence.count)
  }

  private static func permanent(_ text: String) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    copy.copyBytes(from: text.utf8)
    return UnsafeRawBufferPointer(copy)
  }
}
