/// How a recording differs from the one that an upload was begun with.
public enum FileChange: Equatable, Sendable {
  /// Bytes.
  case size(from: Int64, to: Int64)
  /// The first or last bytes.
  case content
  /// Somebody has written to it.
  case modificationTime
}
