/// A retry that is about to be made.
public struct Retry: Equatable, Sendable {
  /// The error of the last attempt.
  public let error: UploadError
  /// The number of failed attempts since the last progress.
  public let failures: Int64
  /// The delay before the next attempt, in milliseconds.
  public let delayMilliseconds: Int64
  /// How much longer attempts are repeated without progress, in milliseconds; nil unless the limit is a time.
  public let remainingMilliseconds: Int64?

  package init(error: UploadError, failures: Int64, delayMilliseconds: Int64, remainingMilliseconds: Int64? = nil) {
    self.error = error
    self.failures = failures
    self.delayMilliseconds = delayMilliseconds
    self.remainingMilliseconds = remainingMilliseconds
  }
}
