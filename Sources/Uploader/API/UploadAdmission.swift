/// Whether another upload may start.
package enum UploadAdmission: Equatable {
  case open
  /// Not until something has been written. It is asked again at this time (monotonic clock) at the latest.
  case held(untilMilliseconds: Int64)
  /// No: no more uploads start.
  case closed
}
