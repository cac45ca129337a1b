/// How long a failed upload is retried without progress.
///
/// With a time or ``forever``, the upload also waits out errors that look permanent but often pass: a name that is unknown, the
/// login page of a captive portal, any 5xx, and a certificate that is not valid yet.
public enum RetryLimit: Equatable, Sendable {
  /// This number of retries, 0 to 1,000,000.
  case failures(Int64)
  /// Until this time has passed since the first failure, 1,000 to 31,536,000,000 milliseconds (a year).
  case time(milliseconds: Int64)
  case forever

  /// Whether errors that look permanent but often pass are waited out.
  var isPatient: Bool {
    switch self {
    case .failures: false
    case .time, .forever: true
    }
  }
}
