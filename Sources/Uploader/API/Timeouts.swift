/// How long each phase may take, in milliseconds, from 1 to 31,536,000,000 (a year) each. Other numbers end uploads with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct Timeouts: Sendable {
  /// Looking the name up.
  public var resolveMilliseconds: Int64 = 30_000
  /// Connecting, over all addresses.
  public var connectMilliseconds: Int64 = 30_000
  /// The TLS handshake, and a proxy's connecting further.
  public var handshakeMilliseconds: Int64 = 30_000
  /// Sending without a byte that the server acknowledges.
  public var stallMilliseconds: Int64 = 30_000
  /// From the last byte of the request to the last of the answer. Servers are silent while they digest a recording.
  public var responseMilliseconds: Int64 = 120_000
  /// The whole upload with all its tries; nil for no limit.
  public var totalMilliseconds: Int64?

  /// The limits named above.
  public init() {}
}
