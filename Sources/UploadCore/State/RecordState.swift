/// Whether an upload is delivered, and what is known of it.
package enum RecordState: Equatable, Sendable {
  case unfinished(UnfinishedUpload)
  /// The last state.
  case delivered(RecordedDelivery)
}
