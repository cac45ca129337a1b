import CShims
import Uploader

/// Which exit code an error has. The codes are in UploadCore, because `watch` reads those of its workers.
extension ExitCode {
  /// The exit code of an error.
  static func of(_ error: UploadError, signal: Int32) -> Int32 {
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
    case .unusable(_, let error) where error.code == SHIM_ENOMEM: memoryCeiling
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

  /// The table of codes in the help of a command.
  static func table(of command: Command) -> [(code: String, meaning: String)] {
    let success =
      switch command {
      case .send, .resume: "delivered"
      case .watch: "stopped by a signal; with --dry-run: success"
      default: "success"
      }
    let interruption = command == .watch ? "stopped by a second signal" : "interrupted"
    return [("0", success)] + failures + [("130, 143", interruption)]
  }

  private static let failures: [(code: String, meaning: String)] = [
    ("1", "internal error"), ("2", "usage error"),
    ("3", "input file: missing, unreadable, empty, not a regular file, too large, or changed while it was sent"),
    ("4", "no connection (unknown name, refused, timeout, lost): try again"),
    ("5", "TLS"), ("6", "credentials refused"),
    ("7", "refused by the server"), ("8", "too large for the server"),
    ("9", "server failure after all retries: try again"),
    ("10", "integrity: checksum or size differs, or no confirmation"),
    ("11", "conflict: another process is running the same upload, or the server has locked it"),
    ("12", "memory ceiling (--max-memory) reached, or another resource exhausted"),
    ("13", "state directory unusable"),
    ("14", "output failed or was not read; everything else succeeded"),
    ("15", "not enough space could be freed (clean)"),
    ("16", "the recording may already be stored; it is never sent again by itself"),
  ]
}
