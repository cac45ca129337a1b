/// Where a request of a diagnosis is cut short: its connection is closed although there is more to send.
package enum ProbeCut: Equatable, Sendable {
  /// After this much of its file, in bytes.
  case afterBytes(Int64)
  /// This long after its first byte, in milliseconds. Until then the link is measured, with short segments if it is narrow
  /// (``Limits/narrowSegmentLength``).
  case afterMilliseconds(Int64, isNarrow: Bool)
}
