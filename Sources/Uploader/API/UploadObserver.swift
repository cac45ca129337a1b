import UploadCore

/// Who is told how uploads go. Each call names the request by its place in the list, and comes on the uploader's thread.
public struct UploadObserver {
  /// The upload begins.
  public var onBegin: (Int) -> Void = { _ in }
  /// The upload has a record with this ID.
  public var onRecord: (Int, String) -> Void = { _, _ in }
  /// About ten times a second, and once at the end.
  public var onProgress: (Int, UploadProgress) -> Void = { _, _ in }
  /// A try has failed; another one will follow.
  public var onRetry: (Int, Retry) -> Void = { _, _ in }
  /// Once for each request.
  public var onEnd: (Int, Result<Delivery, UploadError>) -> Void = { _, _ in }
  /// Where the caller writes what it says.
  package var outlet: (any Outlet)?

  /// Tells nobody.
  public init() {}
}
