/// Is a file still what was sent of it, although its status has changed?
///
/// Renaming, chmod(1) and links change the status. So does a program that rewrites the file in place and restores its modification
/// time, as editors of tags do. Only the content tells: with a digest the file is read once more, and compared; without
/// one nothing can tell.
struct ContentCheck: Sendable {
  /// What a touch asks for.
  enum Answer: Equatable, Sendable {
    case proceed
    /// Read the whole file again, and compare it with what was sent.
    case readAgain
    case changed(FileError)
  }

  /// Is there a digest of what is sent?
  let hasDigest: Bool
  /// Does the server confirm that it has stored what the digest is of?
  let isConfirmed: Bool
  private var hasReadAgain = false
  /// Has the status changed, and nothing shown since that the content has not?
  private var hasStatusChanged = false

  init(hasDigest: Bool, isConfirmed: Bool) {
    self.hasDigest = hasDigest
    self.isConfirmed = isConfirmed
  }

  mutating func answer(to statusChange: StatusChange) -> Answer {
    hasStatusChanged = true
    switch statusChange {
    case .behindEnd: return .changed(.changedOnItsWay)
    case .underWay: return hasDigest && !hasReadAgain ? .proceed : .changed(.rewritten)
    case .beforeEnd(let isDigested):
      // What went out a second time, or before the digest had come so far, is the server's to confirm.
      guard hasDigest, !hasReadAgain, isDigested || isConfirmed else { return .changed(.rewritten) }
      hasReadAgain = true
      return .readAgain
    }
  }

  /// - Returns: what is wrong with the file that was read again; nil if it is what was sent.
  mutating func problem(sent: String, now: String, isSteady: Bool) -> FileError? {
    hasStatusChanged = !(isSteady && sent == now)
    return hasStatusChanged ? .rewritten : nil
  }

  /// - Returns: what is wrong with the file where a try failed like this. A range that was rewritten between its checksum and its
  ///   sending is not what the checksum is of.
  func problem(behind error: UploadError) -> FileError? {
    guard hasStatusChanged, case .tus(.checksumMismatch) = error else { return nil }
    return .rewritten
  }
}
