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
