import UploadCore

/// The settings of an ``Uploader``. A number outside the range given with it ends uploads with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct Configuration: Sendable {
  /// The credentials for the server. They are never sent to another origin.
  public var credentials = Credentials.none
  /// Called once for new credentials if the server refuses those that it accepted before, because tokens expire. Returns nil if
  /// there are none. It runs on the thread of the uploads and blocks them.
  public var refreshCredentials: (@Sendable () -> Credentials?)?
  /// Further header fields of every request to the server, and of none to another origin. At most 4,096 bytes in total. A
  /// User-Agent replaces ``userAgent`` there. Fields with secrets belong to ``credentials``.
  public var headers: [CustomField] = []
  /// Other origins that get the credentials and ``headers``, too, such as "https://uploads.example.com", if a tus server says that an upload
  /// is there. A redirect to one does not get them.
  public var trustedOrigins: [String] = []
  /// Certificates, keys and pins.
  public var tls = TLSOptions()
  /// Time limits.
  public var timeouts = Timeouts()
  /// The addresses of a host to use.
  public var addressFamily = AddressFamily.any
  /// The congestion control of connections.
  public var congestionControl = CongestionControl.automatic
  /// HTTP proxies.
  public var proxies = ProxySettings()
  /// How fast all uploads together may be sent, by the time of the week: 1 to 10^12 bytes per second.
  public var rateLimit = RateSchedule.unlimited
  /// How much of the line recordings that are still made get while finished ones are sent, too, in percent; nil if nothing divides it.
  package var livePercent: Int64?
  /// How long a failed upload is retried without progress.
  public var retryLimit = RetryLimit.failures(5)
  /// The longest delay before a retry, in milliseconds, 0 to 31,536,000,000 (a year). Delays are random. Their upper bound
  /// starts at one second and doubles. A Retry-After from the server takes precedence.
  public var retryMaximumDelayMilliseconds: Int64 = 60_000
  /// Over how many connections the parts of a recording are sent to a server that joins them: S3 servers and Nextcloud, with a number also tus
  /// servers. With several concurrent uploads, they are for all of them together.
  public var connections = ConnectionLimit.automatic
  /// The directory for records of uploads, so that they can be resumed; nil to keep none.
  public var stateDirectory: LocalPath?
  /// Keeps the server's cookies for an upload in its record even if other users can read it, as they can on FAT.
  public var allowsSharedSecrets = false
  /// The value of the User-Agent field.
  public var userAgent = "gighive-upload/" + Uploader.version
  /// Called with lines about requests and responses, with secrets redacted, on the thread of the uploads.
  public var diagnostics: (@Sendable (String) -> Void)?
  /// Asked before a recording is removed after its delivery, by the path that it was given: whether nobody else needs it. It then has an
  /// unfinished upload, which keeps it. nil if there is nobody to ask.
  package var mayRemove: (@Sendable (LocalPath) -> Bool)?
  /// Called with warnings, on the thread of the uploads. The upload continues.
  public var warnings: (@Sendable (String) -> Void)?

  /// The defaults given above.
  public init() {}

  /// The error of the first number out of range, including the number of concurrent uploads, or of the first header field that
  /// cannot be sent; nil if there is none.
  func problem(jobs: Int) -> UploadError? {
    var ranges = AllowedRanges()
    ranges.check("timeouts.resolveMilliseconds", timeouts.resolveMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    ranges.check("timeouts.connectMilliseconds", timeouts.connectMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    ranges.check(
      "timeouts.handshakeMilliseconds", timeouts.handshakeMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    ranges.check("timeouts.stallMilliseconds", timeouts.stallMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    ranges.check("timeouts.responseMilliseconds", timeouts.responseMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    ranges.check("timeouts.totalMilliseconds", timeouts.totalMilliseconds, in: AllowedRanges.timeoutMilliseconds)
    for rate in rateLimit.rates { ranges.check("rateLimit", rate, in: AllowedRanges.rate) }
    switch retryLimit {
    case .failures(let count): ranges.check("retryLimit", count, in: AllowedRanges.retries)
    case .time(let milliseconds): ranges.check("retryLimit", milliseconds, in: AllowedRanges.retryTime)
    case .forever: break
    }
    if case .count(let count) = connections { ranges.check("connections", count, in: AllowedRanges.connections) }
    ranges.check("retryMaximumDelayMilliseconds", retryMaximumDelayMilliseconds, in: AllowedRanges.delayMilliseconds)
    ranges.check("jobs", Int64(jobs), in: AllowedRanges.jobs)
    if let problem = ranges.problem { return problem }
    return CustomField.problem(in: headers, with: credentials).map { .requestHead(.header($0)) }
  }

  var retryPolicy: RetryPolicy {
    RetryPolicy(retryLimit, maximumDelayMilliseconds: retryMaximumDelayMilliseconds)
  }
}

/// TLS settings.
public struct TLSOptions: Sendable {
  /// A PEM file of trusted certificates, instead of the system's.
  public var trustedCertificatesFile: LocalPath?
  /// A directory of trusted certificates with hashed names (openssl-rehash(1)), instead of the system's.
  public var trustedCertificatesDirectory: LocalPath?
  /// The client's certificate chain, PEM.
  public var certificateFile: LocalPath?
  /// The client's key, PEM; nil if it is in the certificate's file.
  public var keyFile: LocalPath?
  /// Pins: `sha256//` and the Base64 of a key's SHA-256, as in curl. The server's key must match one of them.
  public var pins: [String] = []
  /// Whether the text is `sha256//` and the Base64 of 32 bytes.
  package static func isPin(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 52, bytes.starts(with: "sha256//".utf8), bytes[51] == UInt8(ascii: "=") else { return false }
    // The last of the 43 digits holds four bits of the digest and two zeros.
    return bytes[8..<50].allSatisfy(Base64.isDigit) && "AEIMQUYcgkosw048".utf8.contains(bytes[50])
  }

  /// Accepts any certificate. Anyone in between can then read and change everything.
  public var isInsecure = false

  /// The system's certificates, no client certificate, no pins.
  public init() {}
}

/// The time limit of each phase, in milliseconds, 1 to 31,536,000,000 (a year). Other values end uploads with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct Timeouts: Sendable {
  /// Resolving the name.
  public var resolveMilliseconds: Int64 = 30_000
  /// Connecting, over all addresses.
  public var connectMilliseconds: Int64 = 30_000
  /// The TLS handshake, and the connection from a proxy to the server.
  public var handshakeMilliseconds: Int64 = 30_000
  /// Sending without an acknowledged byte.
  public var stallMilliseconds: Int64 = 30_000
  /// From the last byte of the request to the last byte of the response. Servers are silent while they digest a recording.
  public var responseMilliseconds: Int64 = 120_000
  /// The whole upload with all retries; nil for no limit.
  public var totalMilliseconds: Int64?

  /// The defaults given above.
  public init() {}
}
