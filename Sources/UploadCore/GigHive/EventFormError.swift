/// Why a form cannot be sent.
public enum EventFormError: Error, Equatable {
  /// GigHive requires a label.
  case missingLabel
  /// Not a date as YYYY-MM-DD.
  case invalidEventDate(String)
  /// No date was given, and this machine's clock does not know today's.
  case unknownToday
  /// GigHive's database has no room for so many characters.
  case tooLong(field: String, count: Int, limit: Int)
  /// GigHive drops a rating that is not digits.
  case invalidRating(String)
  /// Neither `band` nor `wedding`: the server would answer with a database error.
  case unknownEventType(String)
}
