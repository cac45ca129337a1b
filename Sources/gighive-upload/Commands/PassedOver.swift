import CShims
import Uploader

/// The uploads that `resume --all` passes over, because their files are missing or it is too early. They are neither started nor failed.
struct PassedOver {
  private var goneCount = 0
  private var waitingCount = 0
  private var postponedCount = 0

  /// Counts the upload if its file is missing or it is postponed.
  /// - Returns: whether it is passed over.
  mutating func take(_ record: UploadRecord) -> Bool {
    switch record.locateFile() {
    case .gone: goneCount += 1
    case .waitingForMedium: waitingCount += 1
    // What is wrong with a file that cannot be examined comes out when it is opened.
    case .present, .unknown:
      guard record.postponedUntil(now: shim_unix_seconds()) != nil else { return false }
      postponedCount += 1
    }
    return true
  }

  /// One line; nil if there were none.
  var text: String? {
    let parts = [
      (goneCount, "whose file is gone"), (waitingCount, "whose file is waiting for its medium"),
      (postponedCount, "to be tried later"),
    ].filter { $0.0 > 0 }
    if parts.isEmpty { return nil }
    return "passed over: " + parts.map { String($0.0) + " " + $0.1 }.joined(separator: ", ") + "."
  }
}
