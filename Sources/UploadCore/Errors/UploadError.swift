/// Why an upload was not delivered and confirmed. Contains no secrets.
public enum UploadError: Error, Equatable, Sendable {
  // Before anything is sent
  /// A setting of the caller, such as `timeouts.stallMilliseconds`, is out of range.
  case invalidConfiguration(field: String, value: Int64, allowed: ClosedRange<Int64>)
  /// The form is incomplete or invalid.
  case form(EventFormError)
  /// The form cannot be written as multipart/form-data.
  case formData(FormDataError)
  /// A field of the request cannot be sent.
  case requestHead(RequestHeadError)
  /// The file cannot be sent.
  case file(LocalPath, FileError)
  /// The file has changed since the upload with this ID started.
  case changed(LocalPath, FileChange, upload: String)
  /// The state directory or a record cannot be used.
  case state(StateError)
  /// Another process is working on the upload.
  case conflict(upload: String)

  // The network
  /// The host does not exist.
  case noSuchName(host: String)
  /// No name server answers.
  case noResolver(host: String)
  /// No host on the local network answered for this name below `.local` (multicast DNS), and the system's resolver does not know
  /// it either. `interfaces` are those that were asked on.
  case noLocalName(host: String, interfaces: [String])
  /// The kernel does not have this congestion control algorithm, or does not allow it to this process. `available` are those
  /// that it has, `allowed` those that need no CAP_NET_ADMIN; empty if the kernel does not say.
  case congestionControlRefused(name: String, available: String, allowed: String, SystemError)
  /// Connecting failed for all addresses; this is the last one, with its error.
  case notConnected(host: String, address: String, SystemError)
  /// A time limit was exceeded. `peer` is the address, or the host before it was resolved.
  case timedOut(UploadPhase, peer: String, limitMilliseconds: Int64)
  /// The connection failed, or without an error number was closed, before the response was complete.
  case connectionLost(UploadPhase, peer: String, SystemError?)
  /// TLS failed, or the server could not be verified.
  case tls(TLSError, host: String)

  /// The server may have stored the recording, and nothing shows whether it has. Retrying could store it twice. Contains
  /// the error of the last attempt.
  indirect case mayBeStored(UploadError)
  /// An earlier attempt of the upload with this ID ended with ``mayBeStored(_:)``.
  case uncertain(upload: String)

  // The response
  /// The response is not valid HTTP, or exceeds a limit.
  case invalidResponse(ResponseError, peer: String)
  /// The server refused with this status and message.
  case refused(status: Int, message: String)
  /// The form was received, but nothing is stored, whatever the status says, and sending it again cannot help.
  case formDropped(status: Int, message: String, FormProblem)
  /// A redirect that uploads do not follow (301, 302, 303), with the new address.
  case redirected(status: Int, location: String)
  /// A redirect that must not be followed: from https to http, in a loop, or one too many.
  case redirectionRefused(location: String, RedirectionProblem)
  /// The proxy for the target cannot be used. `source` says where it is set, such as "$ALL_PROXY".
  case proxyUnusable(source: String)
  /// The host, or the proxy's, is an address of the IP version that may not be used (``AddressFamily``).
  case addressExcluded(host: String, isIPv6: Bool)
  /// The proxy ("host:port") refused to connect to the server, or with a 407, to pass on a request. `hadCredentials`: whether it was
  /// sent a user name and a password.
  case proxyRefused(status: Int, proxy: String, hadCredentials: Bool)
  /// The server does not replace what has this URL, and that is another object, or not known to be this recording.
  case objectExists
  /// This upload has delivered another recording to the same URL, or will, which a PUT would replace.
  case objectRecorded(upload: String)
  /// What has the URL of a delivered recording now is something else, which is not deleted.
  case objectReplaced
  /// The server has no directory for this URL.
  case serverDirectoryMissing(status: Int)
  /// The server does not accept the signature of the URL, which may have expired.
  case signatureRefused(status: Int, message: String)
  /// The server stored different bytes. SHA-256 in hexadecimal digits.
  case checksumDiffers(sent: String, stored: String)
  /// The server stored a different number of bytes.
  case sizeDiffers(sent: Int64, stored: Int64)
  /// A response that would end the upload, but does not prove that it is the server's. It may come from a proxy, a firewall or
  /// a captive portal. The upload can be resumed.
  case notFromServer(status: Int)
  /// GigHive does not know the upload token, or it has expired.
  case guestTokenRefused
  /// GigHive guests must accept its terms (the field `tos_accepted`), and this one has not.
  case termsNotAccepted
  /// A success that confirms nothing: GigHive's without its members, or another server's page for a login or of an error.
  case unconfirmed(status: Int)
  /// GigHive has the recording, but has not confirmed it yet.
  case stillProcessing
  /// A success before the whole file was sent.
  case prematureSuccess(status: Int)
  /// The tus protocol failed.
  case tus(TusError)
  /// The server forgot an unfinished upload.
  case uploadLost
  /// The upload ended with this error, and is not to be tried again before that time, in seconds since 1970.
  indirect case postponed(UploadError, untilSeconds: Int64, PostponementReason)

  // This side
  /// The caller cancelled the upload.
  /// - Parameter hasSentAll: the server had received everything, and may have stored the recording.
  case cancelled(hasSentAll: Bool)
  /// The system has run out of threads, memory, descriptors …
  case outOfResources(String)
  /// A bug of this library, which it has noticed. The upload stays pending.
  case internalError(String)

  /// Why a server drops a form that it has received.
  public enum FormProblem: Equatable, Sendable, CaseIterable {
    /// It is too large for PHP.
    case tooLarge
    /// The server does not run the PHP program.
    case notRun
    /// The database refuses a value of its fields.
    case valueRefused
  }

  /// Why a redirect is not followed.
  public enum RedirectionProblem: Equatable, Sendable {
    /// From https to http.
    case leavesTLS
    /// A captive portal's, or that of a gateway with single sign-on.
    case loginPage
    /// To an address that the request was sent to before.
    case circle
    /// More than `limit` in a row.
    case tooMany(limit: Int)
    /// The Location field cannot be read.
    case noAddress
  }
}

extension UploadError {
  /// Whether the server, or something in front of it, refuses a form because of its size.
  package var isTooLargeAsForm: Bool {
    switch self {
    case .refused(status: 413, _), .formDropped(_, _, .tooLarge): true
    default: false
    }
  }

  /// Whether the server has something other than the file.
  var provesOtherContent: Bool {
    if case .checksumDiffers = self { return true }
    if case .sizeDiffers = self { return true }
    return false
  }

  /// The error without its postponement.
  package var cause: UploadError {
    if case .postponed(let cause, _, _) = self { cause } else { self }
  }

  /// The error with text from outside made printable, and secrets that the server repeated redacted.
  package func redacted(_ secrets: Secrets) -> UploadError {
    switch self {
    case .refused(let status, let message): .refused(status: status, message: secrets.line(message))
    case .formDropped(let status, let message, let problem):
      .formDropped(status: status, message: secrets.line(message), problem)
    case .mayBeStored(let cause): .mayBeStored(cause.redacted(secrets))
    case .postponed(let cause, let until, let reason):
      .postponed(cause.redacted(secrets), untilSeconds: until, reason)
    case .redirected(let status, let location): .redirected(status: status, location: secrets.redacted(location))
    case .redirectionRefused(let location, let problem):
      .redirectionRefused(location: secrets.redacted(location), problem)
    case .signatureRefused(let status, let message): .signatureRefused(status: status, message: secrets.line(message))
    case .checksumDiffers(let sent, let stored): .checksumDiffers(sent: sent, stored: secrets.line(stored))
    case .tus(let error): .tus(error.redacted(secrets))
    case .noSuchName(let host): .noSuchName(host: secrets.host(host))
    case .noLocalName(let host, let interfaces): .noLocalName(host: secrets.host(host), interfaces: interfaces)
    case .noResolver(let host): .noResolver(host: secrets.host(host))
    case .addressExcluded(let host, let isIPv6): .addressExcluded(host: secrets.host(host), isIPv6: isIPv6)
    case .notConnected(let host, let address, let error):
      .notConnected(host: secrets.host(host), address: address, error)
    case .timedOut(let phase, let peer, let limit):
      .timedOut(phase, peer: secrets.host(peer), limitMilliseconds: limit)
    case .connectionLost(let phase, let peer, let error): .connectionLost(phase, peer: secrets.host(peer), error)
    case .tls(let error, let host): .tls(error, host: secrets.host(host))
    case .invalidResponse(let error, let peer): .invalidResponse(error, peer: secrets.host(peer))
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict: self
    case .proxyRefused, .proxyUnusable, .sizeDiffers, .unconfirmed, .stillProcessing, .prematureSuccess: self
    case .uploadLost, .uncertain, .notFromServer, .guestTokenRefused, .termsNotAccepted, .cancelled: self
    case .outOfResources, .congestionControlRefused, .internalError, .objectExists, .objectReplaced: self
    case .objectRecorded: self
    case .serverDirectoryMissing: self
    }
  }

  /// Whether there is no such host.
  var isUnknownHost: Bool { if case .noSuchName = self { true } else { false } }
}

/// A phase of an upload with its own time limit.
public enum UploadPhase: Equatable, Sendable {
  /// Resolving the name.
  case resolving
  /// Connecting, over all addresses.
  case connecting
  /// Waiting for a proxy to connect to the server.
  case tunnelling
  /// TLS.
  case handshaking
  /// Sending the request.
  case sending
  /// Waiting for the response to a form with a whole recording, which may be stored by then.
  case awaitingConfirmation
  /// Waiting for the response to any other request.
  case awaitingAnswer
  /// The whole upload, with all retries.
  case delivering
}

/// Why an upload that ended with an error is not to be tried again at once.
public enum PostponementReason: Equatable, Sendable {
  /// The server failed after the whole content so many times within a day.
  case sentRepeatedly(count: Int)
  /// Its Retry-After is longer than the upload is retried.
  case serverAsked
}
