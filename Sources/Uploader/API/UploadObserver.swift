import UploadCore

/// Callbacks about uploads. Each call has the index of the request in the list, and is made on the uploader's thread.
public struct UploadObserver {
  /// The upload starts.
  public var onBegin: (Int) -> Void = { _ in }
  /// The upload has a record with this ID.
  public var onRecord: (Int, String) -> Void = { _, _ in }
  /// About ten times a second, and once at the end.
  public var onProgress: (Int, UploadProgress) -> Void = { _, _ in }
  /// The server's response that leads to the next ``onRetry`` or ``onEnd`` of this upload. It is not called if there is none, such as
  /// when the connection was lost.
  public var onAnswer: (Int, RedactedAnswer) -> Void = { _, _ in }
  /// An attempt failed and will be retried.
  public var onRetry: (Int, Retry) -> Void = { _, _ in }
  /// Once for each request.
  public var onEnd: (Int, Result<Delivery, UploadError>) -> Void = { _, _ in }
  /// Whether to cancel this upload. Asked whenever the loop wakes up.
  package var isCancelled: (Int) -> Bool = { _ in false }
  /// The caller's output.
  package var output: (any CallerOutput)?

  /// An observer without callbacks.
  public init() {}
}

/// The output of the uploader's caller. The loop polls it along with the connections, so that a slow or missing reader does not
/// delay uploads in progress.
package protocol CallerOutput: AnyObject {
  /// The descriptors with pending output.
  var blocked: [Int32] { get }
  /// Writes as much as possible without waiting.
  func write()
  /// Whether another upload may start.
  func admission(nowMilliseconds: Int64) -> UploadAdmission
}

/// Whether another upload may start.
package enum UploadAdmission: Equatable {
  case open
  /// Not until something has been written. It is asked again at this time (monotonic clock) at the latest.
  case held(untilMilliseconds: Int64)
  /// No: no more uploads start.
  case closed
}
