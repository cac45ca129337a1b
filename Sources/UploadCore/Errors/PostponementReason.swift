/// Why an upload that ended with an error is not to be tried again at once.
public enum PostponementReason: Equatable, Sendable {
  /// The server failed after the whole content so many times within a day.
  case sentRepeatedly(count: Int)
  /// Its Retry-After is longer than the upload is retried.
  case serverAsked
}
