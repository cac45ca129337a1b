import UploadCore

/// Looks for a cancellation from time to time while many records are read.
final class CancellationCheck {
  private(set) var isCancelled = false
  private let cancellation: Cancellation?
  private var count = 0

  init(_ cancellation: Cancellation?) { self.cancellation = cancellation }

  /// Called before each record.
  func isOver() -> Bool {
    count += 1
    if count % Limits.cancellationCheckRecordCount == 0, cancellation?.isCancelled ?? false { isCancelled = true }
    return isCancelled
  }
}
