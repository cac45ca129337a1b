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
