import CShims
import Uploader

/// A limit on open files (RLIMIT_NOFILE) that is too low causes misleading errors later, such as an unknown host or an
/// unwritable record. So it is checked once at the start.
enum DescriptorLimit {
  /// Whether there are enough descriptors. A shortage is reported.
  /// - Parameter jobs: the number of concurrent uploads.
  static func allows(jobs: Int, _ report: Report) -> Bool {
    let count = Limits.descriptorCount + jobs * Limits.jobDescriptorCount
    let result = shim_can_open(Int32(count))
    if result == 0 { return true }
    report.failed(
      "the limit on open files is too low: " + String(count) + " more are needed (" + SystemError(result: result).text
        + "). Raise it with ulimit -n.", exitCode: ExitCode.memoryCeiling)
    return false
  }
}

/// A failed allocation ends the program with an error message. With `--max-memory` the kernel makes allocations fail at
/// that ceiling (RLIMIT_AS).
enum MemoryCeiling {
  /// Prepares the message, because nothing can be allocated when it is needed.
  static func prepare(isJSON: Bool) {
    prepare("out of memory.", isJSON: isJSON)
    shim_on_out_of_memory {
      shim_tell_memory_end(ExitCode.memoryCeiling)
      shim_exit_at_once(ExitCode.memoryCeiling)
    }
  }

  private static func prepare(_ message: String, isJSON: Bool) {
    shim_prepare_end(permanentCString(message), isJSON ? 1 : 0) { Console.writeLast() }
  }

  /// Sets the ceiling.
  /// - Returns: false if the process already exceeds it. That has been reported.
  static func set(_ bytes: Int64, isJSON: Bool) -> Bool {
    prepare(
      "the memory ceiling of " + SizeText.exact(bytes)
        + " is too low for this upload; raise it with --max-memory, or with max-memory in the configuration file.",
      isJSON: isJSON)
    if shim_limit_memory(bytes) == 0 { return true }
    shim_tell_memory_end(ExitCode.memoryCeiling)
    return false
  }
}
