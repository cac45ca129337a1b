/// Why a form cannot be written.
public enum FormDataError: Error, Equatable {
  /// All text fields together exceed what servers accept. The limit is in bytes.
  case fieldsTooLong(limit: Int)
  /// A media type with characters that do not belong in a header line.
  case invalidMediaType(String)
}
