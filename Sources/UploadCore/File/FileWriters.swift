/// Whether a program has a file open for writing, or mapped.
package enum FileWriters: Equatable, Sendable {
  case noWriter
  case writer
  /// The file system, or the permissions of this process, never allow it to tell.
  case undetectable(SystemError)
  /// A passing fault, such as too many open files: another attempt may tell.
  case notNow(SystemError)
}
