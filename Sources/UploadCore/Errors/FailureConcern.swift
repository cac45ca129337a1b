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

extension UploadError {
  /// What it concerns. A 403 can be about either; the recording is the smaller claim.
  package var concern: FailureConcern {
    switch self {
    case .form, .formData, .requestHead, .file, .changed, .conflict, .delivered, .mayBeStored, .uncertain: .file
    case .checksumDiffers, .sizeDiffers: .file
    case .postponed(let cause, _, let reason):
      switch reason {
      // Others may fare better.
      case .sentRepeatedly: cause.concern == .network ? .file : cause.concern
      case .serverAsked: cause.concern == .file ? .file : .network
      }
    case .invalidConfiguration, .proxyUnusable, .addressExcluded, .congestionControlRefused: .destination
    case .redirected, .redirectionRefused, .guestTokenRefused, .termsNotAccepted, .unconfirmed: .destination
    case .tls(.outOfMemory, _): .machine
    case .tls: isTransient ? .network : .destination
    case .refused(let status, _): UploadError.concern(ofStatus: status)
    case .formDropped(_, _, let problem): problem == .notRun ? .destination : .file
    case .proxyRefused(let status, _, _): RetryPolicy.isTransient(status: status) ? .network : .destination
    case .tus(let error): error.concern
    case .noSuchName, .noLocalName, .noResolver, .notConnected, .timedOut, .connectionLost, .invalidResponse: .network
    case .notFromServer, .stillProcessing, .prematureSuccess, .uploadLost: .network
    case .state, .cancelled, .outOfResources: .machine
    }
  }

  /// Whether the server did not answer at all.
  package var isSilence: Bool {
    switch self {
    case .noSuchName, .noLocalName, .noResolver, .notConnected, .timedOut, .connectionLost: true
    default: false
    }
  }

  fileprivate static func concern(ofStatus status: Int) -> FailureConcern {
    switch status {
    // Not authorized, no such address, another method, another protocol.
    case 401, 404, 405, 407, 410, 426: .destination
    case _ where status >= 500 || RetryPolicy.isTransient(status: status): .network
    // A success that means nothing: a captive portal.
    case ..<400: .network
    default: .file
    }
  }
}

extension TusError {
  fileprivate var concern: FailureConcern {
    switch self {
    case .locked, .tooLarge, .invalidMetadataKey, .offsetBeyond, .checksumMismatch, .lengthTruncated, .contentRefused:
      .file
    case .versionNotSupported, .nothingStored: .destination
    case .notSupported(let status): status >= 500 || status < 400 ? .network : .destination
    case .refused(_, let status): UploadError.concern(ofStatus: status)
    case .noLocation, .unusableLocation, .noOffset, .interrupted, .unproved, .startsOver, .cachedOffset,
      .requestsStopped:
      .network
    }
  }
}
