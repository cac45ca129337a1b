import UploadCore

/// What an ``Uploader`` applies to all its uploads. Numbers out of the range that is named with them end uploads with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct Configuration {
  /// What the server is told of the user; goes to no other origin.
  public var credentials = Credentials.none
  /// Is asked for new credentials once when the server refuses those that it took before: tokens expire. nil if there are
  /// none.
  public var refreshCredentials: (() -> Credentials?)?
  /// Certificates, keys and pins.
  public var tls = TLSOptions()
  /// Time limits.
  public var timeouts = Timeouts()
  /// Which of a host's addresses are used.
  public var addressFamily = AddressFamily.any
  /// HTTP proxies.
  public var proxies = ProxySettings()
  /// All uploads together send no more than so many bytes a second, 1 to 10^12; nil for no limit.
  public var rateLimit: Int64?
  /// Tries after the first one, 0 to 1,000,000, counted again from the start whenever an upload has made progress.
  public var retries: Int64 = 5
  /// The longest delay before another try, in milliseconds, from 0 to 31,536,000,000 (a year). The delays begin with a second, double, and are random below
  /// that. A server's Retry-After counts instead.
  public var retryMaximumDelayMilliseconds: Int64 = 60_000
  /// Where records of uploads are kept, so that they can be resumed; nil keeps none.
  public var stateDirectory: LocalPath?
  /// The product's name and version for the server's log.
  public var userAgent = "gighive-upload/" + Uploader.version
  /// Is told what happens on the wire, a line each time, without secrets.
  public var diagnostics: ((String) -> Void)?
  /// Is told what a person should know although the upload goes on.
  public var warnings: ((String) -> Void)?

  /// The values named above.
  public init() {}

  /// Checks the numbers, and how many uploads at a time there are to be.
  /// - Returns: what is wrong with the first that is out of its range.
  func problem(jobs: Int) -> UploadError? {
    var settings = Settings()
    settings.check("timeouts.resolveMilliseconds", timeouts.resolveMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("timeouts.connectMilliseconds", timeouts.connectMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("timeouts.handshakeMilliseconds", timeouts.handshakeMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("timeouts.stallMilliseconds", timeouts.stallMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("timeouts.responseMilliseconds", timeouts.responseMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("timeouts.totalMilliseconds", timeouts.totalMilliseconds, in: Settings.timeoutMilliseconds)
    settings.check("rateLimit", rateLimit, in: Settings.rate)
    settings.check("retries", retries, in: Settings.retries)
    settings.check("retryMaximumDelayMilliseconds", retryMaximumDelayMilliseconds, in: Settings.delayMilliseconds)
    settings.check("jobs", Int64(jobs), in: Settings.jobs)
    return settings.problem
  }

  var retryPolicy: RetryPolicy {
    RetryPolicy(retries: retries, maximumDelayMilliseconds: retryMaximumDelayMilliseconds)
  }
}
