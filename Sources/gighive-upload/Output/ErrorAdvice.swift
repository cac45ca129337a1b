import CShims
import Uploader

/// Advice that only the command line can give: the options and commands that help.
extension UploadError {
  /// What failed and what to do about it at the command line.
  var explanation: String { explanation(after: nil) }

  /// The same, with the software that wrote the response that led to it.
  func explanation(after answer: RedactedAnswer?) -> String {
    if let postponement { return cause.explanation(after: answer) + " " + postponement }
    return ([explanationOfCause(after: answer)] + sizeAdvice(after: answer)).joined(separator: " ")
  }

  /// What to do about a recording that is too large for where it was sent.
  private func sizeAdvice(after answer: RedactedAnswer?) -> [String] {
    guard isTooLargeAsForm, let answer else { return [] }
    let isUnknown = answer.remedy == nil
    switch answer.request {
    case .gigHiveForm: return [UploadError.tusForLargeFiles]
    case .otherForm: return isUnknown ? [LikelySoftware.limitsOfForms] : []
    case .other: return isUnknown ? [LikelySoftware.limitOfTus] : []
    }
  }

  private func explanationOfCause(after answer: RedactedAnswer?) -> String {
    let problem = problem(after: answer)
    if let advice = answer?.commandAdvice { return problem + " " + advice }
    guard let advice = commandRemedy, !isExplained(by: answer) else { return problem }
    return problem + " " + advice
  }

  /// What to do about it at the command line; nil if ``problem`` says so already or nothing helps.
  var commandRemedy: String? { commandAdvice ?? advice }

  /// Whether the explanation starts with the file's name.
  var namesFile: Bool {
    switch self {
    case .file, .changed: true
    case .invalidConfiguration, .form, .formData, .requestHead, .state, .conflict, .delivered, .noSuchName, .noResolver,
      .notConnected,
      .timedOut, .connectionLost, .tls, .invalidResponse, .refused, .redirected, .redirectionRefused, .proxyRefused,
      .checksumDiffers, .sizeDiffers, .unconfirmed, .stillProcessing, .prematureSuccess, .tus, .uploadLost,
      .mayBeStored, .uncertain, .notFromServer, .postponed, .guestTokenRefused, .termsNotAccepted, .cancelled,
      .outOfResources,
      .proxyUnusable, .addressExcluded, .congestionControlRefused, .noLocalName, .formDropped:
      false
    }
  }

  private static let tusForLargeFiles =
    "A GigHive server with tus takes it in parts: --protocol tus, or --threshold for all files from that size."

  /// Advice with options and commands; nil if none helps.
  private var commandAdvice: String? {
    switch self {
    case .form(let error): error.commandAdvice
    case .file(_, let error): error.commandAdvice
    case .changed: "To send the file as it is now, use gighive-upload send."
    case .state(let error): error.commandAdvice
    case .timedOut(.delivering, _, _): "--max-time sets that limit."
    case .tls(let error, _): error.commandAdvice
    case .tus(let error): error.commandAdvice
    case .proxyRefused(status: 407, _, hadCredentials: true):
      "Check the user name and the password: those of --proxy-user, or in the variable that sets the proxy."
    case .proxyRefused(status: 407, _, hadCredentials: false):
      "Give them with --proxy, --proxy-user and --proxy-password-file, or in the variable that sets the proxy, such as"
        + " https_proxy=http://USER:PASSWORD@HOST:PORT."
    case .proxyRefused: "Check --proxy and NO_PROXY."
    case .congestionControlRefused: "--congestion auto works without it."
    case .addressExcluded(_, let isIPv6):
      isIPv6
        ? "Leave out --ipv4, or use an IPv4 address or a name."
        : "Leave out --ipv6, or use an IPv6 address or a name."
    case .proxyUnusable: "Correct it, set another proxy with --proxy, or list this host in NO_PROXY."
    case .uncertain(let id):
      "Check the server. If the recording is missing, send it again with gighive-upload resume " + id
        + "; if it is there, drop the record with gighive-upload list --forget " + id + "."
    case .termsNotAccepted: "To accept them, use --field tos_accepted=true."
    case .notFromServer(404), .notFromServer(410):
      "If you are sure that the server has lost it, drop its record with gighive-upload list --forget."
    case .refused(let status, _): status == 413 ? "A wrong --file-field has the same effect." : nil
    case .invalidConfiguration, .formData, .requestHead, .conflict, .delivered, .noSuchName, .noLocalName, .noResolver,
      .formDropped,
      .notConnected, .timedOut,
      .connectionLost,
      .invalidResponse, .redirected, .redirectionRefused, .checksumDiffers, .sizeDiffers, .unconfirmed,
      .stillProcessing, .prematureSuccess, .notFromServer, .uploadLost, .mayBeStored, .guestTokenRefused, .cancelled,
      .outOfResources, .postponed:
      nil
    }
  }
}

extension RedactedAnswer {
  /// What to do about it at the command line, beside ``remedy``; nil if that says enough.
  fileprivate var commandAdvice: String? {
    if lacksCredentials {
      return "Give a user name and a password: --user with --password-file, or --netrc; or a token: --bearer-file or"
        + " --upload-token-file."
    }
    return software == .cloudflareAccess ? "Put them into a file for --header-file." : nil
  }

  /// What to do about it; nil if there is no advice.
  var commandRemedy: String? {
    let parts = [remedy, commandAdvice].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

extension EventFormError {
  /// What is wrong with the form, and which option helps.
  var explanation: String { UploadError.form(self).explanation }

  fileprivate var commandAdvice: String? {
    switch self {
    case .missingLabel: "Set one with --label."
    case .unknownToday: "Set the clock, or give the date with --event-date YYYY-MM-DD."
    case .invalidEventDate, .unknownEventType, .tooLong, .invalidRating: nil
    }
  }
}

extension FileError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .tooLarge: "--max-size sets that limit."
    case .gone(let id): "Put it back and resume, or cancel the upload with gighive-upload cancel " + id + "."
    case .waitingForMedium(let id):
      "Insert or mount it and resume, or cancel the upload with gighive-upload cancel " + id + "."
    case .statusChanged: "Send it again. With --digest, it is then read once more and compared."
    case .notRegular(let kind): kind == "a directory" ? "Use -r to send the recordings in it." : nil
    case .unreadable(let error): error.code == SHIM_EACCES ? StateOwner.explanation : nil
    case .missing, .empty, .readFailed, .shrank, .grew, .rewritten, .changedInTransit, .unsettled: nil
    }
  }
}

extension StateError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .unusable(_, let error):
      switch error.code {
      case SHIM_EIO: nil
      case SHIM_EACCES: StateOwner.permissionAdvice
      default: "Choose another one with --state-dir."
      }
    case .notRegular: "Remove it, or choose another directory with --state-dir."
    case .noDirectory: "Choose a directory with --state-dir."
    case .locked, .unsupportedVersion, .noSuchRecord, .ambiguousID: nil
    }
  }
}

extension TusError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .notSupported: "--protocol multipart may work."
    case .requestsStopped, .contentRefused: "Where --chunk-size is set, a smaller one may help."
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond,
      .noOffset, .nothingStored, .checksumMismatch, .locked, .interrupted, .unproved, .startsOver, .lengthTruncated,
      .cachedOffset, .refused:
      nil
    }
  }
}

extension TLSError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .certificate(let code, _): TLSError.advice(code)
    case .chain(let problem, _): problem.advice(trusting: "use its certificate with --cacert")
    case .pinMismatch:
      "If the server has a new key, verify it there and set it with --pin. Otherwise someone may be intercepting the"
        + " connection."
    case .handshake(let reason): reason == "no shared cipher" ? TLSError.advice(alert: 40) : nil
    case .alert(let number, _): TLSError.advice(alert: number)
    case .closedDuringHandshake, .broken, .truncated, .unusableFile, .unusablePin, .outOfMemory: nil
    }
  }

  private static func advice(alert: Int) -> String? {
    switch alert {
    case 40, 71:
      "It may lack a secure algorithm (TLS 1.2 with forward secrecy, or TLS 1.3), or require a client"
        + " certificate (--cert)."
    case _ where isAboutClientCertificate(alert: alert):
      "It requires a client certificate that it accepts; use --cert and --key."
    default: nil
    }
  }

  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String? {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "It is self-signed. If the server is yours, copy its certificate to this machine and use --cacert."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      "If its certificate authority is yours, use that authority's certificate with --cacert."
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      "It was issued by another authority with the same name. Use the authority's current certificate with --cacert."
    default: nil
    }
  }
}
