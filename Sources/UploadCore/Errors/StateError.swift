/// What is wrong with the state directory or a record in it.
public enum StateError: Error, Equatable, Sendable {
  /// A file or directory cannot be made, read or written.
  case unusable(LocalPath, SystemError)
  /// There is something else in the place of a file, such as a FIFO.
  case notRegular(LocalPath)
  /// Another version of this program wrote the record.
  case unsupportedVersion(LocalPath)
  /// There is no home directory to keep records below.
  case noDirectory
  /// No record has an ID that begins like this.
  case noSuchRecord(String)
  /// Several records have an ID that begins like this.
  case ambiguousID(String)
}
