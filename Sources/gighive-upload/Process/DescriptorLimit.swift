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
