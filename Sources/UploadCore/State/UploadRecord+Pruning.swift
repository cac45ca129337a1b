extension UploadRecord {
  /// Whether the record is over and old enough to be dropped once its file is gone. The server may have a part of a pending
  /// upload, which only cancelling it removes.
  /// - Parameters:
  ///   - age: seconds since its last change, greater than zero.
  ///   - now: seconds since 1970.
  package func isOver(for age: Int64, now: Int64) -> Bool {
    switch phase {
    case .pending, .uploaded: false
    case .delivered, .failed: updatedAt <= now - age
    }
  }
}
