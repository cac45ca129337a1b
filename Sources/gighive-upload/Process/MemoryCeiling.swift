import CShims
import Uploader

/// An allocation that fails ends the program with a sentence; with `--max-memory` the kernel lets them fail early, to hold
/// the process to its promise (RLIMIT_AS).
enum MemoryCeiling {
  /// Gets the sentence ready for a machine without memory.
  static func prepare(isJSON: Bool) {
    prepare("there is no memory left for this.", isJSON: isJSON)
    shim_on_out_of_memory {
      shim_tell_memory_end(ExitCode.memoryCeiling)
      shim_exit_at_once(ExitCode.memoryCeiling)
    }
  }

  /// Beforehand, because nothing can be allocated when it is needed.
  private static func prepare(_ message: String, isJSON: Bool) {
    shim_prepare_end(permanentCString(message), isJSON ? 1 : 0) { Console.writeLast() }
  }

  /// Sets the ceiling.
  /// - Returns: false if the process is over it already, which has then been said.
  static func set(_ bytes: Int64, isJSON: Bool) -> Bool {
    prepare(
      "the memory ceiling of " + SizeText.exact(bytes) + " is too low for this upload; raise --max-memory.",
      isJSON: isJSON)
    if shim_limit_memory(bytes) == 0 { return true }
    shim_tell_memory_end(ExitCode.memoryCeiling)
    return false
  }
}
