/// Why a request cannot be written.
public enum RequestHeadError: Error, Equatable {
  /// The field's name or value holds a character that no field may hold (RFC 9110, 5.5). The value is not told: it can be
  /// a secret.
  case invalidField(name: String)
  case tooLong(limit: Int)
}
