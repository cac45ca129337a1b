import CShims
import UploadCore

/// Who reads advice: a program can change its code or its settings, a person can use options and commands.
package enum AdviceReader: Equatable {
  /// A program that uses the library, or whoever looks at it.
  case caller
  /// A person at the command line, with its options and commands.
  case commandLine

  /// What this reader is told; without words for the command line, both are told the same.
  fileprivate func told(_ caller: String?, _ commandLine: String? = nil) -> String? {
    self == .commandLine ? commandLine ?? caller : caller
  }

  /// An upload chooses smaller requests by itself, unless their size is set.
  fileprivate var smallerChunks: String {
    self == .caller ? "" : " Where --chunk-size is set, a smaller one may help."
  }
}

extension UploadError {
  /// What to do about it; nil if ``problem`` says so already or nothing helps. The order is that of the cases.
  package func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .form(let error): error.advice(for: reader)
    case .file(_, let error): error.advice(for: reader)
    case .changed: reader.told("Send the file as it is now.", "To send the file as it is now, use gighive-upload send.")
    case .state(let error): error.advice(for: reader)
    case .noLocalName: "Check that the server is switched on and on the same network, or use its address."
    case .congestionControlRefused:
      reader.told("The automatic choice works without it.", "congestion = auto works without it.")
    case .timedOut(.awaitingAnswer, _, _):
      "The server accepts connections, but its program does not answer: restart it, or check the address and the port."
    case .timedOut(.delivering, _, _): reader.told(nil, "--max-time sets that limit.")
    case .connectionLost(.handshaking, _, _): TLSError.closedDuringHandshake.advice(for: reader)
    case .tls(let error, _): error.advice(for: reader)
    case .uncertain(let id):
      reader.told(
        nil,
        "Check the server. If the recording is missing, send it again with gighive-upload resume " + id
          + "; if it is there, drop the record with gighive-upload forget " + id + ".")
    case .refused(413, _):
      reader.told(
        "A wrong name for the form's file field has the same effect.", "A wrong --file-field has the same effect.")
    case .proxyUnusable:
      reader.told(
        "Correct it, or exclude this host from the proxy.",
        "Correct it, set another proxy with --proxy, or list this host in NO_PROXY.")
    case .addressExcluded(_, let isIPv6):
      reader.told(
        "Use a name, or an address of that version.",
        isIPv6
          ? "Leave out --ipv4, or use an IPv4 address or a name."
          : "Leave out --ipv6, or use an IPv6 address or a name.")
    case .proxyRefused(status: 407, _, hadCredentials: false):
      reader.told(
        nil,
        "Give them in the variable that sets the proxy, such as https_proxy=http://USER:PASSWORD@HOST:PORT, with"
          + " proxy-user and proxy-password-file in the configuration, or with --netrc.")
    case .proxyRefused(status: 407, _, hadCredentials: true):
      reader.told(
        "Check the proxy settings.",
        "Check the user name and the password: those in the variable that sets the proxy, the configuration, or the netrc file."
          + " Only Basic authentication is supported."
      )
    case .proxyRefused: reader.told("Check the proxy settings.", "Check --proxy and NO_PROXY.")
    case .notFromServer(404), .notFromServer(410):
      reader.told(
        nil, "If you are sure that the server has lost it, drop its record with gighive-upload forget ID.")
    case .objectExists:
      reader.told(
        "Send it to another URL, or delete what is there.",
        "Send it to another URL, delete what is there, or, on an S3 or WebDAV server, use --overwrite.")
    case .objectRecorded:
      reader.told(
        "Send it to another URL.",
        "Give each recording a URL of its own, such as one that ends with {path}, or replace it with --overwrite. If"
          + " that upload is no longer wanted, drop its record with gighive-upload forget ID.")
    case .objectReplaced:
      reader.told("Delete it there.", "Delete it there, and drop the record with gighive-upload forget ID.")
    case .serverDirectoryMissing: "Create it there, or correct the URL."
    case .signatureRefused:
      reader.told(
        "Use a new URL, or other keys.",
        "Write a new URL to the file of --put-url-file, or correct the keys for the S3 server, and resume the upload.")
    case .termsNotAccepted: reader.told(nil, "To accept them, use --field tos_accepted=true.")
    case .tus(let error): error.advice(for: reader)
    case .invalidConfiguration, .formData, .requestHead, .conflict, .noSuchName, .noResolver, .notConnected,
      .timedOut, .connectionLost, .mayBeStored, .invalidResponse, .refused, .formDropped, .redirected,
      .redirectionRefused, .checksumDiffers, .sizeDiffers, .notFromServer, .guestTokenRefused, .unconfirmed,
      .stillProcessing, .prematureSuccess, .uploadLost, .postponed, .cancelled, .outOfResources, .internalError:
      nil
    }
  }
}

extension EventFormError {
  fileprivate func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .missingLabel: reader.told(nil, "Set one with --label.")
    case .unknownToday: reader.told(nil, "Set the clock, or give the date with --event-date YYYY-MM-DD.")
    case .invalidEventDate, .unknownEventType, .tooLong, .invalidRating: nil
    }
  }
}

extension FileError {
  fileprivate func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .gone(let id):
      reader.told(nil, "Put it back and resume, or cancel the upload with gighive-upload cancel " + id + ".")
    case .waitingForMedium(let id):
      reader.told(nil, "Insert or mount it and resume, or cancel the upload with gighive-upload cancel " + id + ".")
    case .notRegular(kind: "a directory"): reader.told(nil, "Use -r to send the recordings in it.")
    case .tooLarge: reader.told(nil, "--set max-size=SIZE changes that limit.")
    case .statusChanged: reader.told(nil, "Send it again. With --digest, it is then read once more and compared.")
    case .missing, .removed, .unreadable, .notRegular, .empty, .readFailed, .shrank, .grew, .rewritten,
      .changedInTransit,
      .unsettled:
      nil
    }
  }
}

extension StateError {
  fileprivate func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .unusable(_, SystemError(code: SHIM_EIO)):
      "The drive or its file system may be damaged: check it with fsck, or choose another one."
    case .unusable(_, SystemError(code: SHIM_ENOMEM)):
      reader.told(nil, "--max-memory raises the limit, if it was given.")
    case .unusable: reader.told("Choose another one.", "Choose another one with --state-dir.")
    case .locked: "Try again."
    case .notRegular:
      reader.told("Remove it, or choose another directory.", "Remove it, or choose another directory with --state-dir.")
    case .noDirectory: reader.told("Choose a state directory.", "Choose a directory with --state-dir.")
    case .unsupportedVersion, .noSuchRecord, .ambiguousID: nil
    }
  }
}

extension TusError {
  fileprivate func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .notSupported:
      reader.told("It may accept the file as multipart/form-data.", "--protocol multipart may work.")
    case .refused(method: "PATCH", _): "Let it through there, or POST with X-HTTP-Method-Override."
    case .contentRefused:
      "Exempt the tus address from the filter." + reader.smallerChunks
    case .createdUploadGone, .createdForAnother: "Have a new upload created, and use its URL."
    case .lengthDiffers: "Send the file that it was created for, or have another upload created."
    case .requestsStopped:
      "Raise its time limit for whole requests." + reader.smallerChunks
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond,
      .startsOver, .lengthTruncated, .cachedOffset, .noOffset, .nothingStored, .checksumMismatch, .locked, .interrupted,
      .refused, .unproved:
      nil
    }
  }
}

extension TLSError {
  fileprivate func advice(for reader: AdviceReader) -> String? {
    switch self {
    case .certificate(let code, _): TLSError.advice(code, for: reader)
    case .chain(let problem, _): problem.advice(for: reader)
    case .pinMismatch:
      "If the server has a new key, verify it there and "
        + (reader == .caller ? "pin it" : "set it with --set pin=KEY")
        + ". Otherwise someone may be intercepting the connection."
    // In OpenSSL's words.
    case .handshake(reason: "wrong version number"), .handshake(reason: "http request"),
      .handshake(reason: "packet length too long"), .handshake(reason: "data length too long"):
      "The peer does not speak TLS. Check the port."
    case .handshake(reason: "unsupported protocol"): TLSError.advice(alert: 70, for: reader)
    case .handshake(reason: "no shared cipher"): TLSError.advice(alert: 40, for: reader)
    case .alert(let number, _): TLSError.advice(alert: number, for: reader)
    case .closedDuringHandshake:
      "Check the port, and the server's log. A firewall that blocks this host closes connections like that, too."
    case .handshake, .broken, .truncated, .unusableFile, .unusablePin, .outOfMemory: nil
    }
  }

  /// What to do about an alert from the server (RFC 8446, 6).
  private static func advice(alert: Int, for reader: AdviceReader) -> String {
    switch alert {
    case 70: "It does not support TLS 1.2 or later, and older versions are not secure. Update the server."
    case 40, 71:
      "It may lack a secure algorithm (TLS 1.2 with forward secrecy, or TLS 1.3), or require a client certificate"
        + (reader == .caller ? "." : " (--cert).")
    case _ where isAboutClientCertificate(alert: alert):
      "It requires a client certificate that it accepts" + (reader == .caller ? "." : "; use --cert and --key.")
    case 112: "It does not serve this host name. Check the address."
    default: "Check the server's log."
    }
  }

  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int, for reader: AdviceReader) -> String? {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
      "Check this machine's clock, which says " + EventForm.today()
        + ". If it is right, the server needs a new certificate."
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      "Use a name from the certificate as the server's address."
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "It is self-signed. If the server is yours, copy its certificate to this machine and "
        + (reader == .caller ? "trust it." : "use --cacert.")
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      reader.told(
        "If its certificate authority is yours, trust that authority's certificate.",
        "If its certificate authority is yours, use that authority's certificate with --cacert.")
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      "It was issued by another authority with the same name. "
        + (reader == .caller
          ? "Get the authority's current certificate." : "Use the authority's current certificate with --cacert.")
    case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
      X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
      X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
      "It was issued by an authority that must not issue it. Ask the server's administrator for a new one. Someone may be"
        + " intercepting the connection."
    case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE:
      "It is not a server certificate. The server's administrator must get one."
    case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
      "A key is too small to be secure (RSA needs 2048 bits). The server's administrator must get a new certificate."
    case X509_V_ERR_CA_MD_TOO_WEAK:
      "It is signed with SHA-1 or MD5, which are weak. The server's administrator must get one signed with SHA-256."
    default: "Ask the server's administrator."
    }
  }
}

extension ChainProblem {
  package func advice(for reader: AdviceReader) -> String {
    let trust = reader == .caller ? "trust its certificate" : "use its certificate with --cacert"
    return switch self {
    case .expiredIssuer(let name, let place, let day):
      "Number " + String(place) + " of the certificates that the server sends, " + name + ", expired on " + day
        + ": the server needs a current one of that authority. This machine's clock says " + EventForm.today() + "."
    case .expiredAuthority(let name):
      "The server's certificates are current, but this machine's copy of the authority " + name
        + " has expired: update the package ca-certificates, or the file that you have given. This machine's clock says "
        + EventForm.today() + "."
    case .missingIssuer(let name):
      "The server sends its own certificate alone, without that of its issuer, " + name
        + ". Let it send its whole chain (fullchain.pem); or if that authority is yours, " + trust + "."
    case .unknownAuthority(let name):
      "This machine does not know the authority " + name + ". If it is yours, " + trust
        + ". Otherwise this machine needs a current package ca-certificates."
    case .foreign(let hosts):
      "It is for " + hosts
        + ", not for this host. If you do not know that name, a login page of this network answers: open"
        + " any page in a browser and log in. If the server is yours, it needs a certificate for its own name."
    }
  }
}
