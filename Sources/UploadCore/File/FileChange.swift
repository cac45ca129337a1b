/// How a recording differs from the one that an upload started with.
public enum FileChange: Equatable, Sendable {
  /// Bytes.
  case size(from: Int64, to: Int64)
  /// The first or last bytes.
  case content
  /// It has been written to.
  case modificationTime
}
