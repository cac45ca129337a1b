/// What a response answers, as far as advice depends on it.
package enum AnsweredRequest: Equatable, Sendable {
  /// A recording as a form for GigHive, which may take it over tus, too.
  case gigHiveForm
  /// A recording as a form for another server.
  case otherForm
  /// A request of tus, or one that sends no recording.
  case other
}
