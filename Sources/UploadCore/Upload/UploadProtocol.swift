/// The protocol for sending a recording to GigHive.
public enum UploadProtocol: Equatable, Sendable {
  /// tus from ``UploadRequest/tusThreshold`` upward if the server supports it, otherwise multipart.
  case automatic
  /// As one form.
  case multipart
  /// tus only.
  case tus
}
