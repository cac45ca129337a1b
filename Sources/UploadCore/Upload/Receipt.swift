/// What the server confirmed about a delivery.
public struct Receipt: Equatable, Sendable {
  /// GigHive's number for the recording.
  public var assetID: Int64?
  /// Whether the server's SHA-256 matches ours.
  public var isChecksumVerified = false
  /// Whether the server already had the same recording (409 with our checksum).
  public var wasAlreadyThere = false
  /// Whether only a web page says so, and nothing proves that it is the server's: without TLS, or without a verified certificate.
  public var isUnprovedPage = false
  /// The token that deletes the recording; a secret.
  public var deleteToken: String?

  package init() {}
}
