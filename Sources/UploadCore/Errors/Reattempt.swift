/// When a watcher tries a recording again that failed for a reason of its own. A change of the file, of its sidecar or of the
/// configuration, SIGHUP and `resume` come first.
package enum Reattempt: String, CaseIterable, Sendable {
  /// The cause may pass, as an I/O error may: at once, and then less and less often, up to once a day.
  case soon
  /// The same the first time. If it fails again, the cause does not pass.
  case once
  /// The server or this program refused the recording itself: after weeks, in case something was corrected there.
  case rarely
  /// The server may have stored it, and cannot be asked. Only a person knows.
  case never

  /// How long to wait, in milliseconds; nil for ever.
  /// - Parameter failures: how often it has failed, from 1.
  package func delay(after failures: Int) -> Int64? {
    switch self {
    case .soon: Limits.watchReattemptMilliseconds[min(failures, Limits.watchReattemptMilliseconds.count) - 1]
    case .once: failures == 1 ? Reattempt.soon.delay(after: 1) : Reattempt.rarely.delay(after: failures - 1)
    case .rarely: Limits.watchRareReattemptMilliseconds[min(failures, Limits.watchRareReattemptMilliseconds.count) - 1]
    case .never: nil
    }
  }

  /// Whether the cause may pass by itself.
  func mayPass(after failures: Int) -> Bool { self == .soon || self == .once && failures == 1 }
}

extension UploadError {
  /// If it concerns the recording (``concern``): when it is tried again. What is not named here may pass.
  package var reattempt: Reattempt {
    switch self {
    case .mayBeStored, .uncertain: .never
    case .checksumDiffers, .sizeDiffers, .tus(.checksumMismatch): .once
    case .refused(let status, _), .tus(.refused(_, let status)):
      [400, 413, 415, 422].contains(status) ? .rarely : .soon
    case .form, .formData, .requestHead, .formDropped, .tus(.tooLarge), .tus(.invalidMetadataKey),
      .tus(.contentRefused):
      .rarely
    case .file(_, .empty), .file(_, .tooLarge), .file(_, .notRegular): .rarely
    case .postponed(let cause, _, _): cause.reattempt
    default: .soon
    }
  }
}
