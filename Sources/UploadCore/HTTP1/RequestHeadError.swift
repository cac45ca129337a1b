/// Why a request cannot be written.
public enum RequestHeadError: Error, Equatable {
  /// The field's name or value contains a forbidden character (RFC 9110, 5.5). The value is not included, because it can
  /// be a secret.
  case invalidField(name: String)
  case tooLong(limit: Int)
  /// A header field of the caller cannot be sent.
  case header(CustomFieldError)
  /// The caller's metadata for a tus server is longer in total, in bytes before Base64.
  case metadataTooLong(limit: Int)
}
