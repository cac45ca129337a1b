/// Why an upload did not end in a confirmed delivery. Nothing of it holds a secret.
public enum UploadError: Error, Equatable, Sendable {
  // Before anything is sent
  /// A number that the caller has set, such as `timeouts.stallMilliseconds`, is not one of those that are allowed.
  case invalidConfiguration(field: String, value: Int64, allowed: ClosedRange<Int64>)
  /// The form lacks something.
  case form(EventFormError)
  /// The form cannot be written as multipart/form-data.
  case formData(FormDataError)
  /// A field of the request cannot be sent.
  case requestHead(RequestHeadError)
  /// The file cannot be sent.
  case file(LocalPath, FileError)
  /// The file is not what it was when the upload with this ID began.
  case changed(LocalPath, FileChange, upload: String)
  /// The state directory or a record.
  case state(StateError)
  /// Another process works on the upload.
  case conflict(upload: String)
  /// The upload that was to be gone on with is delivered already.
  case delivered(upload: String)

  // The network
  /// There is no such name.
  case noSuchName(host: String)
  /// No name server answers.
  case noResolver(host: String)
  /// No address could be connected to; the last one and its error.
  case notConnected(host: String, address: String, SystemError)
  /// `peer` is the address, or the host while there is none yet.
  case timedOut(UploadPhase, peer: String, limitMilliseconds: Int64)
  /// The connection failed (or, with no error number, was closed) before the answer was there.
  case connectionLost(UploadPhase, peer: String, SystemError?)
  /// TLS failed, or the server could not be verified.
  case tls(TLSError, host: String)

  /// The server may have stored the recording, and nothing tells whether it has: repeating it by itself could store it
  /// twice. With what the last try ended with.
  indirect case mayBeStored(UploadError)
  /// An earlier try of the upload with this ID ended with ``mayBeStored(_:)``.
  case uncertain(upload: String)

  // The answer
  /// The answer is not HTTP, or over a limit.
  case invalidResponse(ResponseError, peer: String)
  /// The server's status says no; the message is in the server's words.
  case refused(status: Int, message: String)
  /// A redirection that no upload follows (301, 302, 303), with the new address.
  case redirected(status: Int, location: String)
  /// A redirection that may not be followed: from https to http, in a circle, or once too often.
  case redirectionRefused(location: String, RedirectionProblem)
  /// The proxy that the target would have to be reached through is named in `source`, such as "$ALL_PROXY", and is none that can
  /// be used.
  case proxyUnusable(source: String)
  /// The proxy ("host:port") would not connect further.
  case proxyRefused(status: Int, proxy: String)
  /// The server stored other bytes; SHA-256 in hexadecimal digits.
  case checksumDiffers(sent: String, stored: String)
  /// The server stored another number of bytes.
  case sizeDiffers(sent: Int64, stored: Int64)
  /// An answer that would end the upload, and that does not prove to be the server's: a proxy, a firewall or a captive portal
  /// may have given it. The upload can be resumed.
  case notFromServer(status: Int)
  /// GigHive knows no such upload token, or it has expired.
  case guestTokenRefused
  /// GigHive's guests have to accept its terms (the field `tos_accepted`), and this one has not.
  case termsNotAccepted
  /// A success that does not look like one of GigHive's.
  case unconfirmed(status: Int)
  /// GigHive has the recording, and has not confirmed it yet.
  case stillProcessing
  /// A success before the whole file was sent.
  case prematureSuccess(status: Int)
  /// The tus protocol was not kept.
  case tus(TusError)
  /// The server forgot an upload that was under way.
  case uploadLost

  // This side
  /// - Parameter hasSentAll: the server had the whole request then, and may have stored the recording.
  case cancelled(hasSentAll: Bool)
  /// The system has no threads, memory, descriptors … left.
  case outOfResources(String)

  /// Why a redirection is not followed.
  public enum RedirectionProblem: Equatable, Sendable {
    /// From https to http.
    case leavesTLS
    /// To where the request had been before.
    case circle
    /// More than `limit` in a row.
    case tooMany(limit: Int)
    /// The Location field cannot be read.
    case noAddress
  }

  package init(_ failure: ReplyFailure) {
    self =
      switch failure {
      case .refused(let status, let message): .refused(status: status, message: message)
      case .checksumDiffers(let sent, let stored): .checksumDiffers(sent: sent, stored: stored)
      case .sizeDiffers(let sent, let stored): .sizeDiffers(sent: sent, stored: stored)
      case .pending: .stillProcessing
      case .notFromGigHive(let status): .unconfirmed(status: status)
      }
  }
}

extension UploadError {
  /// Is another try worth while, without anything that a person would have to do? docs/networks.md prints the table.
  package var isTransient: Bool {
    switch self {
    case .timedOut(.delivering, _, _): false
    case .noResolver, .notConnected, .timedOut, .connectionLost, .uploadLost, .stillProcessing, .notFromServer: true
    case .invalidResponse(let error, _): error.isTransient
    case .tls(let error, _): error.isTransient
    case .tus(let error): error.isTransient
    case .refused(let status, _), .proxyRefused(let status, _): RetryPolicy.isTransient(status: status)
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered,
      .noSuchName:
      false
    case .redirected, .redirectionRefused, .checksumDiffers, .sizeDiffers, .unconfirmed, .prematureSuccess: false
    case .mayBeStored, .uncertain, .guestTokenRefused, .termsNotAccepted, .cancelled, .outOfResources: false
    case .proxyUnusable: false
    }
  }

  /// Can the upload go on as it is, with another try?
  package var leavesPending: Bool {
    switch self {
    case .cancelled, .timedOut, .proxyUnusable: true
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered:
      isTransient
    case .noSuchName, .noResolver, .notConnected, .connectionLost, .tls, .outOfResources: isTransient
    case .invalidResponse, .refused, .redirected, .redirectionRefused, .proxyRefused, .checksumDiffers, .sizeDiffers,
      .unconfirmed, .stillProcessing, .prematureSuccess, .tus, .uploadLost, .mayBeStored, .uncertain, .notFromServer,
      .guestTokenRefused, .termsNotAccepted:
      isTransient
    }
  }

  /// The error as it may be shown: texts from outside printable, and without secrets that the server has repeated.
  package func redacted(_ secrets: Secrets) -> UploadError {
    switch self {
    case .refused(let status, let message): .refused(status: status, message: secrets.line(message))
    case .mayBeStored(let cause): .mayBeStored(cause.redacted(secrets))
    case .redirected(let status, let location): .redirected(status: status, location: secrets.redacted(location))
    case .redirectionRefused(let location, let problem):
      .redirectionRefused(location: secrets.redacted(location), problem)
    case .checksumDiffers(let sent, let stored): .checksumDiffers(sent: sent, stored: secrets.line(stored))
    case .tus(let error): .tus(error.redacted(secrets))
    case .noSuchName(let host): .noSuchName(host: secrets.host(host))
    case .noResolver(let host): .noResolver(host: secrets.host(host))
    case .notConnected(let host, let address, let error):
      .notConnected(host: secrets.host(host), address: address, error)
    case .timedOut(let phase, let peer, let limit):
      .timedOut(phase, peer: secrets.host(peer), limitMilliseconds: limit)
    case .connectionLost(let phase, let peer, let error): .connectionLost(phase, peer: secrets.host(peer), error)
    case .tls(let error, let host): .tls(error, host: secrets.host(host))
    case .invalidResponse(let error, let peer): .invalidResponse(error, peer: secrets.host(peer))
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered: self
    case .proxyRefused, .proxyUnusable, .sizeDiffers, .unconfirmed, .stillProcessing, .prematureSuccess: self
    case .uploadLost, .uncertain, .notFromServer, .guestTokenRefused, .termsNotAccepted, .cancelled: self
    case .outOfResources: self
    }
  }

  /// Has the server something else than the file?
  package var isIntegrityFailure: Bool {
    switch self {
    case .checksumDiffers, .sizeDiffers: true
    case .tus(let error): error.isIntegrityFailure
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered: false
    case .noSuchName, .noResolver, .notConnected, .timedOut, .connectionLost, .tls, .invalidResponse: false
    case .refused, .redirected, .redirectionRefused, .proxyRefused, .unconfirmed, .stillProcessing: false
    case .prematureSuccess, .uploadLost, .cancelled, .outOfResources, .proxyUnusable: false
    case .mayBeStored, .uncertain, .notFromServer, .guestTokenRefused, .termsNotAccepted: false
    }
  }

  /// Does it leave open what became of a request that had gone out as a whole?
  package var leavesOutcomeOpen: Bool {
    switch self {
    case .timedOut, .connectionLost, .invalidResponse: true
    case .tls(let error, _): error.leavesOutcomeOpen
    // A server or gateway that failed may have done so behind the last byte; a redirect may follow a success. 511 is a
    // portal's (RFC 6585, 6).
    case .refused(let status, _): status >= 500 && status != 511
    case .redirected(let status, _): status == 303
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered: false
    case .noSuchName, .noResolver, .notConnected, .mayBeStored, .uncertain, .redirectionRefused, .proxyRefused: false
    case .checksumDiffers, .sizeDiffers, .notFromServer, .guestTokenRefused, .termsNotAccepted, .unconfirmed: false
    case .stillProcessing, .prematureSuccess, .tus, .uploadLost, .cancelled, .outOfResources, .proxyUnusable: false
    }
  }
}
