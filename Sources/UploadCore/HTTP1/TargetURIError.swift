/// What is wrong with a URL.
public enum TargetURIError: Error, Equatable {
  /// The limit is in bytes.
  case tooLong(limit: Int)
  /// Neither `http://` nor `https://` at its start.
  case unsupportedScheme
  /// Nothing between the scheme and the path.
  case missingHost
  /// A host with characters that no host name has, or an address in brackets that is none.
  case invalidHost
  /// Not a number from 1 to 65535.
  case invalidPort
  /// `user:password@`: a secret in a URL ends up in logs and process lists, so it is refused (RFC 9110, 4.2.4).
  case containsUserInformation
  /// A space, a control character or a byte outside ASCII that is not percent-encoded.
  case invalidCharacter
}
