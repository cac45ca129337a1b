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
