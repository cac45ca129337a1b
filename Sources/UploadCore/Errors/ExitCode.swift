/// The process's exit codes. Scripts depend on them: a code never changes its meaning.
package enum ExitCode {
  package static let delivered: Int32 = 0
  /// Reported by `CShims/Process/output.c` when Swift traps.
  package static let internalError: Int32 = 1
  package static let usage: Int32 = 2
  package static let inputFile: Int32 = 3
  package static let noConnection: Int32 = 4
  package static let tls: Int32 = 5
  package static let credentialsRefused: Int32 = 6
  package static let refused: Int32 = 7
  package static let tooLarge: Int32 = 8
  package static let serverFailure: Int32 = 9
  package static let integrity: Int32 = 10
  package static let conflict: Int32 = 11
  package static let memoryCeiling: Int32 = 12
  package static let stateDirectory: Int32 = 13
  package static let outputFailed: Int32 = 14
  package static let notEnoughSpace: Int32 = 15
  package static let mayBeStored: Int32 = 16
  package static let interruptedBase: Int32 = 128

  /// Whether others come first: the failure passes without a person doing anything, or everything else has succeeded.
  package static func yields(_ code: Int32) -> Bool {
    [noConnection, serverFailure, conflict, outputFailed].contains(code) || code > interruptedBase
  }

  /// The code of several things, one after the other: that of the first failure that needs a person, or else of the first one.
  package static func combined(_ earlier: Int32, _ later: Int32) -> Int32 {
    if earlier == delivered { return later }
    return yields(earlier) && later != delivered && !yields(later) ? later : earlier
  }
}

extension ExitCode {
  /// The exit code of an error.
  package static func of(_ error: UploadError, signal: Int32) -> Int32 {
    switch error {
    case .delivered: delivered
    case .invalidConfiguration, .form, .formData, .requestHead: usage
    case .proxyUnusable, .addressExcluded, .congestionControlRefused: usage
    case .file, .changed: inputFile
    case .state(let error): of(error)
    case .conflict: conflict
    case .tus(let error): of(error)
    case .mayBeStored(let cause): ofUncertain(cause)
    case .uncertain: mayBeStored
    case .postponed(let cause, _, _): of(cause, signal: signal)
    // A captive portal's page: the server was not reached.
    case .notFromServer(200..<300): noConnection
    case .notFromServer(let status): of(status: status)
    case .guestTokenRefused, .termsNotAccepted: credentialsRefused
    case .uploadLost, .stillProcessing: serverFailure
    case .noSuchName, .noLocalName, .noResolver, .notConnected, .timedOut, .connectionLost: noConnection
    case .outOfResources: memoryCeiling
    case .tls(let error, _): of(error)
    case .invalidResponse: serverFailure
    case .refused(let status, _), .proxyRefused(let status, _, _): of(status: status)
    case .formDropped(_, _, let problem): problem == .tooLarge ? tooLarge : refused
    case .redirected, .redirectionRefused: refused
    case .checksumDiffers, .sizeDiffers, .unconfirmed, .prematureSuccess: integrity
    case .cancelled: interruptedBase + signal
    }
  }

  /// An error that is certain keeps its own code.
  private static func ofUncertain(_ cause: UploadError) -> Int32 {
    switch cause {
    case .file: inputFile
    case .checksumDiffers, .sizeDiffers: integrity
    default: mayBeStored
    }
  }

  private static func of(_ error: StateError) -> Int32 {
    switch error {
    case .unusable(_, let error) where error == .outOfMemory: memoryCeiling
    case .unusable, .locked, .notRegular, .unsupportedVersion, .noDirectory: stateDirectory
    case .noSuchRecord, .ambiguousID: usage
    }
  }

  private static func of(_ error: TusError) -> Int32 {
    switch error {
    case .locked: conflict
    case .tooLarge: tooLarge
    case .invalidMetadataKey: usage
    case .offsetBeyond, .startsOver, .lengthTruncated: integrity
    case .notSupported, .versionNotSupported, .refused, .contentRefused: refused
    case .noLocation, .unusableLocation, .noOffset, .nothingStored, .checksumMismatch, .interrupted, .unproved,
      .cachedOffset, .requestsStopped:
      serverFailure
    }
  }

  private static func of(_ error: TLSError) -> Int32 {
    switch error {
    case .outOfMemory: memoryCeiling
    case .certificate, .chain, .pinMismatch, .handshake, .alert, .closedDuringHandshake, .broken, .truncated,
      .unusableFile,
      .unusablePin:
      tls
    }
  }

  private static func of(status: Int) -> Int32 {
    switch status {
    case 401, 403, 407: credentialsRefused
    case 413: tooLarge
    case 429, 500...: serverFailure
    default: refused
    }
  }
}
