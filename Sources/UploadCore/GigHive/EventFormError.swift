/// What keeps a form from being sent.
public enum EventFormError: Error, Equatable {
  /// GigHive requires one.
  case missingLabel
  /// Not a day of the calendar written as YYYY-MM-DD.
  case invalidEventDate(String)
  /// Neither `band` nor `wedding`: the server would answer with a database error.
  case unknownEventType(String)
}
