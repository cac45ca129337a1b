/// What an error means for what happens next. This is the only place that decides it; Uploader/Messages has the words.
package struct ErrorTraits: Equatable, Sendable {
  /// ``ExitCode``; for an interruption, without the number of the signal.
  package var exitCode: Int32
  package var concern: FailureConcern
  /// If it concerns the recording: when a watcher tries it again.
  package var reattempt: Reattempt
  var passing: Passing
  /// Whether the upload stays pending and can be resumed as it is.
  package var leavesPending: Bool
  /// Whether a request that was sent completely may have been carried out.
  package var leavesOutcomeOpen: Bool
  var contact: Contact

  /// Whether a cause goes away without a person doing anything. docs/networks.md has the table.
  enum Passing: Equatable, Sendable {
    case no
    /// It looks permanent, and often is not: only a patient upload waits for it.
    case often
    /// The same, if this machine's clock is wrong.
    case withClock
    case yes
  }

  /// How far the request got.
  enum Contact: Equatable, Sendable {
    /// Something responded, or it never came to a connection because of this machine.
    case some
    /// There was a connection, and no complete response.
    case silence
    /// Nothing could be asked at that address, although this machine has a network.
    case refused
    case nobody
  }

  /// Whether a retry can help.
  package var isTransient: Bool { passing == .yes }
  /// Whether the server did not respond at all.
  package var isSilence: Bool { contact == .silence || contact == .nobody }
  /// Whether nobody can be asked at that address.
  package var isUnreachable: Bool { contact == .refused || contact == .nobody }

  fileprivate init(
    _ exitCode: Int32, _ concern: FailureConcern, _ reattempt: Reattempt = .soon, passing: Passing = .no,
    leavesPending: Bool? = nil, leavesOutcomeOpen: Bool = false, contact: Contact = .some
  ) {
    (self.exitCode, self.concern, self.reattempt, self.passing) = (exitCode, concern, reattempt, passing)
    self.leavesPending = leavesPending ?? (passing == .yes)
    (self.leavesOutcomeOpen, self.contact) = (leavesOutcomeOpen, contact)
  }

  /// A response with this status, which does not confirm what was asked.
  fileprivate init(status: Int) {
    let isTransient = RetryPolicy.isTransient(status: status)
    let exitCode =
      switch status {
      case 401, 403, 407: ExitCode.credentialsRefused
      case 413, 507: ExitCode.tooLarge
      case 429, 500...: ExitCode.serverFailure
      default: ExitCode.refused
      }
    let concern: FailureConcern =
      switch status {
      // Not authorized, no such address, another method, another protocol. A 403 can be about the recording or the destination;
      // the recording is the smaller claim.
      case 401, 404, 405, 407, 410, 426: .destination
      // A success that means nothing: a captive portal.
      case 500..., ..<400: .network
      default: isTransient ? .network : .file
      }
    self.init(
      exitCode, concern, [400, 413, 415, 422].contains(status) ? .rarely : .soon,
      passing: isTransient ? .yes : status >= 500 ? .often : .no,
      // A server or gateway may have failed after the last byte. 511 is from a captive portal (RFC 6585, 6).
      leavesOutcomeOpen: status >= 500 && status != 511)
  }

  /// A copy in which some members differ.
  fileprivate func with(_ change: (inout ErrorTraits) -> Void) -> ErrorTraits {
    var traits = self
    change(&traits)
    return traits
  }
}

/// What a failure says about other recordings.
package enum FailureConcern: String, CaseIterable, Sendable {
  /// This recording alone: others may be taken.
  case file
  /// Every recording would fail until a person does something, as with wrong credentials.
  case destination
  /// The network or the server, for now.
  case network
  /// This machine: its state directory, memory or disk.
  case machine
}

/// When a watcher tries a recording again that failed for a reason of its own. A change of the file, of its sidecar or of the
/// configuration, SIGHUP and `resume` come first.
package enum Reattempt: String, CaseIterable, Sendable {
  /// The cause may pass, as an I/O error may: at once, and then less and less often, up to once a day.
  case soon
  /// The same the first time. If it fails again, the cause does not pass.
  case once
  /// The server or this program refused the recording itself: after weeks, in case something was corrected there.
  case rarely
  /// The server may have stored it, and cannot be asked: only a person knows. Or it was removed.
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
  package var traits: ErrorTraits {
    switch self {
    case .invalidConfiguration: ErrorTraits(ExitCode.usage, .destination)
    case .form, .formData, .requestHead: ErrorTraits(ExitCode.usage, .file, .rarely)
    case .file(_, .empty), .file(_, .tooLarge), .file(_, .notRegular): ErrorTraits(ExitCode.inputFile, .file, .rarely)
    case .file(_, .removed): ErrorTraits(ExitCode.inputFile, .file, .never)
    case .file, .changed: ErrorTraits(ExitCode.inputFile, .file)
    case .state(let error): ErrorTraits(error.exitCode, .machine)
    case .conflict: ErrorTraits(ExitCode.conflict, .file)

    case .noSuchName: ErrorTraits(ExitCode.noConnection, .network, passing: .often, contact: .nobody)
    case .noResolver, .noLocalName, .notConnected:
      ErrorTraits(ExitCode.noConnection, .network, passing: .yes, contact: .nobody)
    case .proxyUnusable, .congestionControlRefused: ErrorTraits(ExitCode.usage, .destination, leavesPending: true)
    case .addressExcluded: ErrorTraits(ExitCode.usage, .destination, leavesPending: true, contact: .refused)
    case .proxyRefused(let status, _, _):
      ErrorTraits(status: status).with {
        $0.concern = $0.isTransient ? .network : .destination
        ($0.reattempt, $0.leavesOutcomeOpen, $0.contact) = (.soon, false, .refused)
      }
    case .timedOut(.delivering, _, _):
      ErrorTraits(ExitCode.noConnection, .network, leavesPending: true, leavesOutcomeOpen: true, contact: .silence)
    case .timedOut(let phase, _, _):
      ErrorTraits(
        ExitCode.noConnection, .network, passing: .yes, leavesOutcomeOpen: true,
        contact: phase.isBeforeRequest ? .nobody : .silence)
    case .connectionLost:
      ErrorTraits(ExitCode.noConnection, .network, passing: .yes, leavesOutcomeOpen: true, contact: .silence)
    case .tls(let error, _): error.traits

    case .mayBeStored(let cause):
      // An error that is certain keeps its own code.
      switch cause {
      case .file, .checksumDiffers, .sizeDiffers: ErrorTraits(cause.traits.exitCode, .file, .never)
      default: ErrorTraits(ExitCode.mayBeStored, .file, .never)
      }
    case .uncertain: ErrorTraits(ExitCode.mayBeStored, .file, .never)

    case .invalidResponse(let error, _):
      ErrorTraits(
        ExitCode.serverFailure, .network, passing: error == .incomplete ? .yes : .no, leavesOutcomeOpen: true)
    case .refused(let status, _): ErrorTraits(status: status)
    case .formDropped(_, _, .tooLarge): ErrorTraits(ExitCode.tooLarge, .file, .rarely)
    case .formDropped(_, _, .notRun): ErrorTraits(ExitCode.refused, .destination, .rarely)
    case .formDropped(_, _, .valueRefused): ErrorTraits(ExitCode.refused, .file, .rarely)
    // A redirect may follow a success.
    case .redirected(let status, _): ErrorTraits(ExitCode.refused, .destination, leavesOutcomeOpen: status == 303)
    case .redirectionRefused: ErrorTraits(ExitCode.refused, .destination)
    case .objectExists, .objectRecorded, .objectReplaced: ErrorTraits(ExitCode.conflict, .file, .rarely)
    case .serverDirectoryMissing: ErrorTraits(ExitCode.refused, .destination)
    case .signatureRefused: ErrorTraits(ExitCode.credentialsRefused, .destination)
    case .checksumDiffers, .sizeDiffers: ErrorTraits(ExitCode.integrity, .file, .once)
    // A captive portal's page: the server was not reached.
    case .notFromServer(200..<300): ErrorTraits(ExitCode.noConnection, .network, passing: .yes)
    case .notFromServer(let status): ErrorTraits(ErrorTraits(status: status).exitCode, .network, passing: .yes)
    case .guestTokenRefused, .termsNotAccepted: ErrorTraits(ExitCode.credentialsRefused, .destination)
    case .unconfirmed: ErrorTraits(ExitCode.integrity, .destination, passing: .often)
    case .prematureSuccess: ErrorTraits(ExitCode.integrity, .network, passing: .often)
    case .stillProcessing, .uploadLost: ErrorTraits(ExitCode.serverFailure, .network, passing: .yes)
    case .tus(let error): error.traits
    case .postponed(let cause, _, let reason):
      cause.traits.with {
        switch reason {
        // Others may fare better.
        case .sentRepeatedly: if $0.concern == .network { $0.concern = .file }
        case .serverAsked: if $0.concern != .file { $0.concern = .network }
        }
        ($0.passing, $0.leavesPending, $0.leavesOutcomeOpen, $0.contact) = (.no, true, false, .some)
      }
    case .cancelled: ErrorTraits(ExitCode.interruptedBase, .machine, leavesPending: true)
    case .outOfResources: ErrorTraits(ExitCode.memoryCeiling, .machine)
    // What led to it may be about this recording.
    case .internalError: ErrorTraits(ExitCode.internalError, .file, leavesPending: true)
    }
  }

  /// - Parameter signal: the one that has interrupted this process, or 0.
  package func exitCode(signal: Int32 = 0) -> Int32 {
    traits.exitCode == ExitCode.interruptedBase ? ExitCode.interruptedBase + signal : traits.exitCode
  }

  /// Whether a patient upload waits for the cause to pass.
  /// - Parameters:
  ///   - host: the server's.
  ///   - unixSeconds: the time on this machine.
  package func mayPass(host: String, unixSeconds: Int64) -> Bool {
    switch traits.passing {
    case .yes, .often: true
    case .withClock: unixSeconds < Limits.builtOn
    case .no: isStrangers(host: host)
    }
  }

  /// What it says about other recordings.
  /// - Parameter unprovedHost: the server's, if nothing proves who responded; nil over https.
  package func concern(unprovedHost: String?) -> FailureConcern {
    switch self {
    case .redirected, .redirectionRefused:
      if let unprovedHost, isStrangers(host: unprovedHost) { .network } else { traits.concern }
    default: traits.concern
    }
  }

  /// Whether the response does not prove to be the server's, as that of a captive portal: a redirect to another host, or a
  /// success that means nothing.
  /// - Parameter host: the server's.
  package func isStrangers(host: String) -> Bool {
    switch self {
    case .notFromServer, .unconfirmed, .prematureSuccess: true
    case .refused(let status, _), .tus(.notSupported(let status)), .tus(.refused(_, let status)):
      (200..<300).contains(status)
    case .redirected(_, let location), .redirectionRefused(let location, .circle),
      .redirectionRefused(let location, .tooMany), .redirectionRefused(let location, .loginPage):
      UploadError.host(of: location).map { $0 != host } ?? false
    default: false
    }
  }

  /// The host of a Location field; nil if it is a path on the same host, or unreadable.
  private static func host(of location: String) -> String? {
    // One without a scheme keeps that of the request, which does not matter here.
    let location = location.hasPrefix("//") ? "http:" + location : location
    return (try? TargetURI(location))?.host
  }
}

extension UploadPhase {
  fileprivate var isBeforeRequest: Bool {
    switch self {
    case .resolving, .connecting, .tunnelling, .handshaking: true
    case .sending, .awaitingConfirmation, .awaitingAnswer, .delivering: false
    }
  }
}

extension StateError {
  fileprivate var exitCode: Int32 {
    switch self {
    case .unusable(_, .outOfMemory): ExitCode.memoryCeiling
    case .unusable, .locked, .notRegular, .unsupportedVersion, .noDirectory: ExitCode.stateDirectory
    case .noSuchRecord, .ambiguousID: ExitCode.usage
    }
  }
}

extension TusError {
  fileprivate var traits: ErrorTraits {
    switch self {
    case .notSupported(let status):
      ErrorTraits(
        ExitCode.refused, status >= 500 || status < 400 ? .network : .destination,
        passing: status >= 500 ? .often : .no)
    case .versionNotSupported: ErrorTraits(ExitCode.refused, .destination)
    case .tooLarge: ErrorTraits(ExitCode.tooLarge, .file, .rarely)
    case .invalidMetadataKey: ErrorTraits(ExitCode.usage, .file, .rarely)
    case .noLocation, .unusableLocation: ErrorTraits(ExitCode.serverFailure, .network)
    case .offsetBeyond, .lengthTruncated: ErrorTraits(ExitCode.integrity, .file)
    case .startsOver: ErrorTraits(ExitCode.integrity, .network, passing: .yes)
    case .cachedOffset, .noOffset, .interrupted, .unproved, .requestsStopped:
      ErrorTraits(ExitCode.serverFailure, .network, passing: .yes)
    case .nothingStored: ErrorTraits(ExitCode.serverFailure, .destination)
    case .checksumMismatch: ErrorTraits(ExitCode.serverFailure, .file, .once, passing: .yes)
    case .locked: ErrorTraits(ExitCode.conflict, .file, passing: .yes)
    case .refused(_, let status):
      ErrorTraits(status: status).with {
        ($0.exitCode, $0.leavesPending, $0.leavesOutcomeOpen) = (ExitCode.refused, false, false)
        $0.passing = status >= 500 ? .often : .no
      }
    case .contentRefused, .createdUploadGone: ErrorTraits(ExitCode.refused, .file, .rarely)
    case .lengthDiffers: ErrorTraits(ExitCode.inputFile, .file, .rarely)
    case .createdForAnother: ErrorTraits(ExitCode.conflict, .file, .rarely)
    }
  }
}

extension TLSError {
  fileprivate var traits: ErrorTraits {
    switch self {
    case .outOfMemory: of(ExitCode.memoryCeiling, .machine)
    case .broken, .truncated: of(ExitCode.noConnection, .network, .yes)
    case .closedDuringHandshake: of(ExitCode.tls, .network, .yes)
    case .certificate(TLSError.notYetValid, _): of(ExitCode.tls, .destination, .often)
    case .certificate(TLSError.expired, _): of(ExitCode.tls, .destination, .withClock)
    // A server that rejects the client's certificate has not looked at the request, although under TLS 1.3 its alert arrives
    // after the handshake, when the request is in flight.
    case .alert(let number, _):
      of(ExitCode.tls, .destination).with {
        $0.leavesOutcomeOpen = !TLSError.isAboutClientCertificate(alert: number)
      }
    case .certificate, .chain, .pinMismatch, .handshake, .unusableFile, .unusablePin: of(ExitCode.tls, .destination)
    }
  }

  private func of(_ exitCode: Int32, _ concern: FailureConcern, _ passing: ErrorTraits.Passing = .no) -> ErrorTraits {
    ErrorTraits(exitCode, concern, passing: passing, leavesOutcomeOpen: true, contact: .refused)
  }
}

/// The process's exit codes. Scripts depend on them: a code never changes its meaning.
package enum ExitCode {
  package static let delivered: Int32 = 0
  /// Reported by `CShims/Process/output.c` when Swift traps.
  package static let internalError: Int32 = 1
  package static let usage: Int32 = 2
  package static let inputFile: Int32 = 3
  static let noConnection: Int32 = 4
  package static let tls: Int32 = 5
  package static let credentialsRefused: Int32 = 6
  package static let refused: Int32 = 7
  package static let tooLarge: Int32 = 8
  static let serverFailure: Int32 = 9
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

extension Limits {
  /// When a recording that failed for a reason of its own is tried again, if the cause may pass. The last delay is repeated. In milliseconds.
  static let watchReattemptMilliseconds: [Int64] = [0, 3_600_000, 6 * 3_600_000, 24 * 3_600_000]
}
