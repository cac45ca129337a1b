/// What is wrong with a file that was to be sent.
public enum FileError: Error, Equatable, Sendable {
  /// There is no such file.
  case missing
  /// It cannot be opened.
  case unreadable(SystemError)
  /// "a directory", "a FIFO" …
  case notRegular(kind: String)
  /// It has no byte.
  case empty
  /// Sizes in bytes.
  case tooLarge(size: Int64, limit: Int64)
  /// Reading failed at this offset, in bytes.
  case readFailed(offset: Int64, SystemError)
  /// The file ended at `offset`, although it had `size` bytes when it was opened.
  case shrank(size: Int64, offset: Int64)
  /// It has become longer since it was opened. Sizes in bytes.
  case grew(from: Int64, to: Int64)
  /// Its modification time is not what it was when the file was opened; or its status has changed (ctime), and nothing shows that
  /// its content has not.
  case rewritten
  /// It was changed after all of it had gone out, and before the kernel had passed it on: the server may have a mixture.
  case changedOnItsWay

  /// Is the file no longer what it was?
  package var isChange: Bool {
    switch self {
    case .shrank, .grew, .rewritten, .changedOnItsWay: true
    case .missing, .unreadable, .notRegular, .empty, .tooLarge, .readFailed: false
    }
  }
}
