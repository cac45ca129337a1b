/// Why a form cannot be written.
public enum FormDataError: Error, Equatable {
  /// All text fields together are longer than servers take; the limit is in bytes.
  case fieldsTooLong(limit: Int)
  /// A media type with characters that would break out of its header line.
  case invalidMediaType(String)
}
