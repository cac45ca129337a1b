/// Decides whether a file whose status has changed still has the content that was sent.
///
/// A rename, chmod(1) or a new link changes the status (ctime). So does a program, such as a tag editor, that rewrites the
/// file in place and restores its modification time. Only the content shows the difference: with a digest, the file is read again and
/// compared; without one, nothing can tell.
struct FileChangePolicy: Sendable {
  /// What to do after a status change.
  enum Decision: Equatable, Sendable {
    case proceed
    /// Read the whole file again, and compare it with what was sent.
    case reread
    case changed(FileError)
  }

  /// Whether there is a digest of what is sent.
  let hasDigest: Bool
  /// Whether the server confirms the digest of what it has stored.
  let isConfirmed: Bool
  private var hasReread = false
  /// Whether the status has changed, and nothing has shown since that the content has not.
  private var hasStatusChanged = false

  init(hasDigest: Bool, isConfirmed: Bool) {
    self.hasDigest = hasDigest
    self.isConfirmed = isConfirmed
  }

  /// - Parameter comparesParts: whether the upload does the comparison itself.
  mutating func decide(on statusChange: StatusChange, comparesParts: Bool) -> Decision {
    hasStatusChanged = true
    if comparesParts { return .proceed }
    if case .afterEnd = statusChange { return .changed(.changedInTransit) }
    guard hasDigest else { return .changed(.statusChanged) }
    switch statusChange {
    case .afterEnd, .whileReading: return hasReread ? .changed(.rewritten) : .proceed
    case .beforeEnd(let isDigested):
      // Only the server can confirm bytes that were sent before the digest had reached them.
      guard !hasReread, isDigested || isConfirmed else { return .changed(.rewritten) }
      hasReread = true
      return .reread
    }
  }

  /// The status has changed since the file was opened.
  mutating func noteStatusChange() { hasStatusChanged = true }

  /// The status has changed while the digest was computed.
  /// - Returns: whether to read the whole file again.
  mutating func rereadsDigested() -> Bool {
    defer { hasReread = true }
    return !hasReread
  }

  /// - Returns: the error of a file that was read again; nil if it is what was sent.
  mutating func compare(sent: String, now: String, isStable: Bool) -> FileError? {
    hasStatusChanged = !(isStable && sent == now)
    return hasStatusChanged ? .rewritten : nil
  }

  /// - Returns: the error of the file behind a failed attempt; nil if there is none. If a range is rewritten after its checksum
  ///   was computed and before it is sent, the checksum does not match.
  func problem(after error: UploadError) -> FileError? {
    guard hasStatusChanged, case .tus(.checksumMismatch) = error else { return nil }
    return .rewritten
  }
}
