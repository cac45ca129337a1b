/// How a recording goes to GigHive.
public enum UploadProtocol: Equatable, Sendable {
  /// By tus from ``UploadRequest/tusThreshold`` upward, if the server speaks it.
  case automatic
  /// As one form.
  case multipart
  /// By tus, or not at all.
  case tus
}
