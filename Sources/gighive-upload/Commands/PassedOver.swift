import Uploader

/// The uploads that `resume --all` passes over, because their files are missing. They are neither started nor failed.
struct PassedOver {
  private var goneCount = 0
  private var waitingCount = 0

  /// Counts the upload if its file is missing.
  /// - Returns: whether it is passed over.
  mutating func take(_ record: UploadRecord) -> Bool {
    switch record.locateFile() {
    case .gone: goneCount += 1
    case .waitingForMedium: waitingCount += 1
    // What is wrong with a file that cannot be examined comes out when it is opened.
    case .present, .unknown: return false
    }
    return true
  }

  /// One line; nil if there were none.
  var text: String? {
    let parts = [(goneCount, "gone"), (waitingCount, "waiting for its medium")].filter { $0.0 > 0 }
    if parts.isEmpty { return nil }
    return "passed over: " + parts.map { String($0.0) + " whose file is " + $0.1 }.joined(separator: ", ") + "."
  }
}
