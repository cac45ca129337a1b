/// What is wrong with the state directory or a record.
public enum StateError: Error, Equatable, Sendable {
  /// A file or directory cannot be created, read or written.
  case unusable(LocalPath, SystemError)
  /// Another process has kept this file locked for longer than it takes to look for a record.
  case locked(LocalPath)
  /// Something other than a regular file is there, such as a FIFO.
  case notRegular(LocalPath)
  /// Another version of this program wrote the record.
  case unsupportedVersion(LocalPath)
  /// There is no home directory for the records.
  case noDirectory
  /// No record has an ID that starts with this text.
  case noSuchRecord(String)
  /// Several records have an ID that starts with this text.
  case ambiguousID(String)
}
