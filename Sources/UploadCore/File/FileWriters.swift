/// Whether other programs have a file open for writing.
package enum FileWriters: Equatable, Sendable {
  case noWriter
  case writer
  /// The file system, or the permissions of this process, never allow it to tell.
  case undetectable
  /// It cannot be told now: too many open files, or an I/O error.
  case notNow(SystemError)
}
