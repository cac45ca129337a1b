/// What is wrong with a URL.
public enum TargetURIError: Error, Equatable {
  /// The limit is in bytes.
  case tooLong(limit: Int)
  /// It starts with neither `http://` nor `https://`.
  case unsupportedScheme
  /// Nothing between the scheme and the path.
  case missingHost
  /// A host with invalid characters, or an invalid address in brackets.
  case invalidHost
  /// Not a number from 1 to 65535.
  case invalidPort
  /// `user:password@`. Secrets in URLs end up in logs and process lists, so they are refused (RFC 9110, 4.2.4).
  case containsUserInformation
  /// A space, a control character or a non-ASCII byte that is not percent-encoded.
  case invalidCharacter
}
