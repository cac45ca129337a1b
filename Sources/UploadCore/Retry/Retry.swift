/// Another try that is about to be made.
public struct Retry: Equatable, Sendable {
  /// What the last try ended with.
  public let error: UploadError
  /// How many tries have failed since the last progress.
  public let failures: Int64
  /// How long is waited before the next try, in milliseconds.
  public let delayMilliseconds: Int64

  package init(error: UploadError, failures: Int64, delayMilliseconds: Int64) {
    self.error = error
    self.failures = failures
    self.delayMilliseconds = delayMilliseconds
  }
}
