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
}
