import UploadCore

/// A stretch of an upload that has a time limit of its own.
public enum UploadPhase: Equatable, Sendable {
  /// The name is looked up.
  case resolving
  /// Over all addresses.
  case connecting
  /// A proxy connects further.
  case tunnelling
  /// TLS.
  case handshaking
  /// The request goes out.
  case sending
  /// The answer to a request that carried a whole recording, which may be stored by then.
  case awaitingResponse
  /// The answer to any other request.
  case awaitingAnswer
  /// All of it, with all tries.
  case delivering

  /// "while connecting"
  var text: String {
    switch self {
    case .resolving: "while looking the name up"
    case .connecting: "while connecting"
    case .tunnelling: "while the proxy was connecting"
    case .handshaking: "during the TLS handshake"
    case .sending: "while sending"
    case .awaitingResponse, .awaitingAnswer: "while waiting for the answer"
    case .delivering: "as a whole"
    }
  }
}

/// Why an upload did not end in a confirmed delivery. Nothing of it holds a secret.
public enum UploadError: Error, Equatable, Sendable {
  // Before anything is sent
  /// The form lacks something.
  case form(EventFormError)
  /// The form cannot be written as multipart/form-data.
  case formData(FormDataError)
  /// A field of the request cannot be sent.
  case requestHead(RequestHeadError)
  /// The file cannot be sent.
  case file(FilePath, FileError)
  /// The file is not what it was when the upload with this ID began.
  case changed(FilePath, FileChange, upload: String)
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

  // The answer
  /// The answer is not HTTP, or over a limit.
  case invalidResponse(ResponseError, peer: String)
  /// The server's status says no; the message is in the server's words.
  case refused(status: Int, message: String)
  /// A redirection that no upload follows (301, 302, 303), with the new address.
  case redirected(status: Int, location: String)
  /// A redirection that may not be followed: from https to http, in a circle, or once too often.
  case redirectionRefused(location: String, RedirectionProblem)
  /// The proxy ("host:port") would not connect further.
  case proxyRefused(status: Int, proxy: String)
  /// The server stored other bytes; SHA-256 in hexadecimal digits.
  case checksumDiffers(sent: String, stored: String)
  /// The server stored another number of bytes.
  case sizeDiffers(sent: Int64, stored: Int64)
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

  init(_ failure: ReplyFailure) {
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
    case .noResolver, .notConnected, .timedOut, .connectionLost, .uploadLost, .stillProcessing: true
    case .invalidResponse(.incomplete, _): true
    case .tls(.broken, _), .tls(.truncated, _), .tls(.closedDuringHandshake, _): true
    case .tus(.locked), .tus(.checksumMismatch), .tus(.noOffset): true
    case .refused(let status, _), .proxyRefused(let status, _): RetryPolicy.isTransient(status: status)
    default: false
    }
  }

  /// Can the upload go on as it is, with another try?
  package var leavesPending: Bool {
    switch self {
    case .cancelled, .timedOut: true
    default: isTransient
    }
  }

  /// The error without secrets that the server has repeated.
  func blanked(_ secrets: Secrets) -> UploadError {
    switch self {
    case .refused(let status, let message): .refused(status: status, message: secrets.blanked(message))
    case .redirected(let status, let location): .redirected(status: status, location: secrets.blanked(location))
    case .redirectionRefused(let location, let problem):
      .redirectionRefused(location: secrets.blanked(location), problem)
    case .checksumDiffers(let sent, let stored): .checksumDiffers(sent: sent, stored: secrets.blanked(stored))
    case .tus(.unusableLocation(let text)): .tus(.unusableLocation(secrets.blanked(text)))
    case .tus(.versionNotSupported(let offered)): .tus(.versionNotSupported(offered: secrets.blanked(offered)))
    default: self
    }
  }

  /// Has the server something else than the file?
  package var isIntegrityFailure: Bool {
    switch self {
    case .checksumDiffers, .sizeDiffers, .tus(.offsetBeyond): true
    default: false
    }
  }
}
