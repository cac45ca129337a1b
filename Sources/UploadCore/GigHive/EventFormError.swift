/// Why a form cannot be sent.
public enum EventFormError: Error, Equatable {
  /// GigHive requires a label.
  case missingLabel
  /// Not a date as YYYY-MM-DD.
  case invalidEventDate(String)
  /// No date was given, and this machine's clock does not know today's.
  case unknownToday
  /// Neither `band` nor `wedding`: the server would answer with a database error.
  case unknownEventType(String)
}
