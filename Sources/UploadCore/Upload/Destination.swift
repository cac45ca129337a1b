/// Where a recording goes.
public enum Destination: Equatable, Sendable {
  /// A GigHive server's base address, such as `https://gighive`, and the form that describes the recording.
  case gigHive(TargetURI, EventForm)
  /// Any endpoint that accepts multipart/form-data.
  case multipart(TargetURI)
  /// Any tus 1.0 server: the URL that creates uploads.
  case tus(TargetURI)
}
