/// A delivery that the server has confirmed.
public struct Receipt: Equatable, Sendable {
  /// GigHive's number for the recording.
  public var assetID: Int64?
  /// Did the server's SHA-256 equal ours?
  public var isChecksumVerified = false
  /// Had the server the same recording already (409 with our checksum)?
  public var wasAlreadyThere = false
  /// What deletes the recording again; a secret.
  public var deleteToken: String?

  package init() {}
}
