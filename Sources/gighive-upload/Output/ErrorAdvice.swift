import CShims
import Uploader

/// What the command line says about errors beyond the library: the options and commands that help.
extension UploadError {
  /// What failed and what to do about it, for a person at the command line.
  var explanation: String { (commandAdvice ?? advice).map { problem + " " + $0 } ?? problem }

  /// Does the explanation begin with the file's name?
  var namesFile: Bool {
    switch self {
    case .file, .changed: true
    case .invalidConfiguration, .form, .formData, .requestHead, .state, .conflict, .delivered, .noSuchName, .noResolver,
      .notConnected,
      .timedOut, .connectionLost, .tls, .invalidResponse, .refused, .redirected, .redirectionRefused, .proxyRefused,
      .checksumDiffers, .sizeDiffers, .unconfirmed, .stillProcessing, .prematureSuccess, .tus, .uploadLost,
      .mayBeStored, .uncertain, .notFromServer, .guestTokenRefused, .termsNotAccepted, .cancelled, .outOfResources,
      .proxyUnusable:
      false
    }
  }

  /// The sentences with options and commands; nil where none helps.
  private var commandAdvice: String? {
    switch self {
    case .form(let error): error.commandAdvice
    case .file(_, let error): error.commandAdvice
    case .changed(_, _, let id): "End that upload with gighive-upload cancel " + id + ", then send the file again."
    case .state(let error): error.commandAdvice
    case .noSuchName(let host):
      host.hasSuffix(".local") ? "Static binaries do not ask mDNS; use the address, or a line in /etc/hosts." : nil
    case .timedOut(.delivering, _, _): "That limit was set with --max-time."
    case .tls(let error, _): error.commandAdvice
    case .tus(let error): error.commandAdvice
    case .proxyRefused(let status, _): status == 407 ? nil : "Check --proxy and NO_PROXY."
    case .proxyUnusable: "Correct it, name another one with --proxy, or name this host in NO_PROXY."
    case .uncertain(let id):
      "Look there. If it is missing, send it again with gighive-upload resume " + id
        + "; if it is there, forget the upload with gighive-upload list --forget " + id + "."
    case .termsNotAccepted: "If you do, say so with --field tos_accepted=true."
    case .notFromServer: "If the server is sure to have forgotten it, gighive-upload list --forget drops its record."
    case .refused(let status, _): status == 413 ? "A wrong --file-field gives the same answer." : nil
    case .invalidConfiguration, .formData, .requestHead, .conflict, .delivered, .noResolver, .notConnected, .timedOut,
      .connectionLost,
      .invalidResponse, .redirected, .redirectionRefused, .checksumDiffers, .sizeDiffers, .unconfirmed,
      .stillProcessing, .prematureSuccess, .uploadLost, .mayBeStored, .guestTokenRefused, .cancelled, .outOfResources:
      nil
    }
  }
}

extension EventFormError {
  /// What is wrong with the form, for a person at the command line.
  var explanation: String { UploadError.form(self).explanation }

  fileprivate var commandAdvice: String? {
    switch self {
    case .missingLabel: "Give one with --label."
    case .invalidEventDate, .unknownEventType: nil
    }
  }
}

extension FileError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .tooLarge: "--max-size sets that limit."
    case .missing, .unreadable, .notRegular, .empty, .readFailed, .shrank, .grew, .rewritten, .changedOnItsWay: nil
    }
  }
}

extension StateError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .unusable: "Name another one with --state-dir."
    case .notRegular: "Remove it, or name another directory with --state-dir."
    case .noDirectory: "Name one with --state-dir."
    case .noSuchRecord: "gighive-upload list shows them."
    case .unsupportedVersion, .ambiguousID: nil
    }
  }
}

extension TusError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .notSpoken: "--protocol multipart may work."
    case .refused: "Try --method-override."
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond,
      .noOffset, .checksumMismatch, .locked, .unproved:
      nil
    }
  }
}

extension TLSError {
  fileprivate var commandAdvice: String? {
    switch self {
    case .certificate(let code, _): TLSError.advice(code)
    case .pinMismatch:
      "If the server has a new key, compare it there and give it with --pin; if not, somebody sits in between."
    case .handshake(let reason): reason == "no shared cipher" ? TLSError.advice(alert: 40) : nil
    case .alert(let number, _): TLSError.advice(alert: number)
    case .closedDuringHandshake, .broken, .truncated, .unusableFile, .unusablePin, .outOfMemory: nil
    }
  }

  private static func advice(alert: Int) -> String? {
    switch alert {
    case 40, 71:
      "It may know none of the safe algorithms (TLS 1.2 with forward secrecy, or TLS 1.3), or want a client"
        + " certificate (--cert)."
    case 42...46, 48, 49, 51, 116: "It wants a client certificate that it knows; give one with --cert and --key."
    default: nil
    }
  }

  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String? {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "It is signed by itself. If the server is yours, copy the certificate from there and give it with --cacert."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      "If its certificate authority is yours, give that one's certificate with --cacert."
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      "If the server has a certificate authority of its own, give that one's certificate with --cacert; if not, the"
        + " server has to send its intermediate certificates, and this machine needs the package ca-certificates."
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      "It was issued by somebody else with the same name; get the present certificate of the authority for --cacert."
    default: nil
    }
  }
}
