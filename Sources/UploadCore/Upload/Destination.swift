/// Where a recording goes.
public enum Destination: Equatable, Sendable {
  /// A GigHive server's base address, such as `https://gighive`, and the form that the recording is filed under.
  case gigHive(TargetURI, EventForm)
  /// Any endpoint that takes multipart/form-data.
  case multipart(TargetURI)
  /// Any tus 1.0 server: where it creates uploads.
  case tus(TargetURI)
}
