import UploadCore

/// A stretch of an upload that has a time limit of its own.
public enum UploadPhase: Equatable, Sendable {
  case resolving, connecting, handshaking, sending, awaitingResponse

  /// "while connecting"
  var text: String {
    switch self {
    case .resolving: "while looking the name up"
    case .connecting: "while connecting"
    case .handshaking: "during the TLS handshake"
    case .sending: "while sending"
    case .awaitingResponse: "while waiting for the answer"
    }
  }
}

/// Why an upload did not end in a confirmed delivery. Nothing of it holds a secret.
public enum UploadError: Error, Equatable, Sendable {
  // Before anything is sent
  case form(EventFormError)
  case formData(FormDataError)
  case requestHead(RequestHeadError)
  case file(FilePath, FileError)

  // The network
  case noSuchName(host: String)
  case noResolver(host: String)
  case notConnected(host: String, address: String, SystemError)
  /// `peer` is the address, or the host while there is none yet.
  case timedOut(UploadPhase, peer: String, limitMilliseconds: Int64)
  /// The connection failed (or, with no error number, was closed) before the answer was there.
  case connectionLost(UploadPhase, peer: String, SystemError?)
  case tls(TLSError, host: String)

  // The answer
  case invalidResponse(ResponseError, peer: String)
  /// The server's status says no; the message is in the server's words.
  case refused(status: Int, message: String)
  case redirected(status: Int, location: String)
  case checksumDiffers(sent: String, stored: String)
  case sizeDiffers(sent: Int64, stored: Int64)
  /// A success that does not look like one of GigHive's.
  case unconfirmed(status: Int)
  /// A success before the whole file was sent.
  case prematureSuccess(status: Int)

  // This side
  /// - Parameter hasSentAll: the server had the whole request then, and may have stored the recording.
  case cancelled(hasSentAll: Bool)
  case outOfResources(String)

  init(_ failure: ReplyFailure) {
    self =
      switch failure {
      case .refused(let status, let message): .refused(status: status, message: message)
      case .checksumDiffers(let sent, let stored): .checksumDiffers(sent: sent, stored: stored)
      case .sizeDiffers(let sent, let stored): .sizeDiffers(sent: sent, stored: stored)
      case .notFromGigHive(let status): .unconfirmed(status: status)
      }
  }
}
