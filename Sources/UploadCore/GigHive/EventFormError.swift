/// Why a form cannot be sent.
public enum EventFormError: Error, Equatable {
  /// GigHive requires a label.
  case missingLabel
  /// Not a date as YYYY-MM-DD.
  case invalidEventDate(String)
  /// Neither `band` nor `wedding`: the server would answer with a database error.
  case unknownEventType(String)
}
