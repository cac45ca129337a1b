import CShims
import Uploader

/// A limit on open files (RLIMIT_NOFILE) that is too low shows up in odd places: a name that is not found, a certificate that
/// is not known, a record that cannot be written. So it is looked at once, before anything begins.
enum DescriptorLimit {
  /// Are there enough descriptors?
  /// - Parameters:
  ///   - jobs: how many uploads at a time.
  ///   - report: is told if not.
  static func suffice(jobs: Int, _ report: Report) -> Bool {
    let count = Limits.descriptorCount + jobs * Limits.jobDescriptorCount
    let result = shim_can_open(Int32(count))
    if result == 0 { return true }
    report.failed(
      "too few files may be open at a time: " + String(count) + " more are needed (" + SystemError(result: result).text
        + "). Raise the limit (ulimit -n).", exitCode: ExitCode.memoryCeiling)
    return false
  }
}
