/// Why a file cannot be sent.
public enum FileError: Error, Equatable, Sendable {
  /// The file does not exist.
  case missing
  /// It was removed while it was being made, and such a recording is not to be delivered.
  case removed
  /// The file of the upload with this ID has been removed or renamed: its directory is there without it.
  case gone(upload: String)
  /// The file of the upload with this ID is missing along with its directory or its file system, such as a USB stick.
  case waitingForMedium(upload: String)
  /// It cannot be opened.
  case unreadable(SystemError)
  /// "a directory", "a FIFO" …
  case notRegular(kind: String)
  /// It has no content.
  case empty
  /// Sizes in bytes.
  case tooLarge(size: Int64, limit: Int64)
  /// Reading failed at this offset, in bytes.
  case readFailed(offset: Int64, SystemError)
  /// It has become shorter since it was opened. Sizes in bytes.
  case shrank(size: Int64, to: Int64)
  /// It has grown since it was opened. Sizes in bytes.
  case grew(from: Int64, to: Int64)
  /// Its modification time has changed since it was opened; or its status has changed (ctime), and a digest does not show that its
  /// content has not.
  case rewritten
  /// Only its status has changed (ctime), such as its permissions or links; or it was rewritten and its modification time restored.
  /// Without a digest, nothing tells which.
  case statusChanged
  /// It was changed after it was sent, but before the peer acknowledged all of it: the server may have a mixture.
  case changedInTransit
  /// Whoever asked for it has judged it to be finished, and it is not, or no longer.
  case unsettled(UnsettledFile)

  /// Whether the file has changed.
  package var isChange: Bool {
    switch self {
    case .shrank, .grew, .rewritten, .statusChanged, .changedInTransit: true
    case .missing, .removed, .gone, .waitingForMedium, .unreadable, .notRegular, .empty, .tooLarge, .readFailed,
      .unsettled:
      false
    }
  }
}

/// Why a file that was judged to be finished is not sent now.
public enum UnsettledFile: Equatable, Sendable {
  /// There is another file at its path, or it has been written since.
  case changed
  /// Another program has it open for writing.
  case beingWritten
  /// It cannot be opened now, or nothing can be said about its writers now.
  case unknown(SystemError)
}

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

/// An error number of the operating system (errno(3)).
public struct SystemError: Error, Equatable, Sendable {
  /// errno
  public let code: Int32

  /// - Parameter result: the -errno that a system call wrapper returned.
  package init(result: some SignedInteger) { code = Int32(-result) }

  /// - Parameter code: errno.
  public init(code: Int32) { self.code = code }

  /// ENOMEM, which has the same number on every Linux.
  static let outOfMemory = SystemError(code: 12)
}

/// Which end caused a failure of sendfile(2). The error number does not tell: a dead FUSE or NFS server gives the file
/// ENOTCONN or ETIMEDOUT, which connections can also have.
package enum SendfileFailure: Equatable, Sendable {
  /// The file cannot be read.
  case file(FileError)
  /// The connection accepts nothing more.
  case connection
  /// Neither end by itself. Reading the file will show more.
  case direct

  /// - Parameters:
  ///   - problem: the error of the file at that offset; nil if a byte could be read.
  ///   - isConnected: whether the connection accepts bytes, now or later.
  package init(file problem: FileError?, isConnected: Bool) {
    if let problem {
      self = .file(problem)
    } else {
      self = isConnected ? .direct : .connection
    }
  }
}
