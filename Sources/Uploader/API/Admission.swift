/// May a further upload begin?
package enum Admission: Equatable {
  case open
  /// Not until something has been written; it is asked again at this time (monotonic clock) at the latest.
  case held(untilMilliseconds: Int64)
  /// No further one will.
  case closed
}
