/// What it means that a file could not be passed on to a connection directly (sendfile(2)). The error number tells nothing: a dead FUSE or
/// NFS server gives the file ENOTCONN or ETIMEDOUT, which a connection can have, too.
package enum SendfileFailure: Equatable, Sendable {
  /// The file cannot be read.
  case file(FileError)
  /// The connection takes nothing more.
  case connection
  /// Neither, as far as they tell: the way from the one to the other. The file is to be read, and tells more then.
  case direct

  /// - Parameters:
  ///   - problem: what the file itself said at that offset; nil if a byte could be read.
  ///   - isConnected: does the connection itself take bytes, now or later?
  package init(file problem: FileError?, isConnected: Bool) {
    if let problem {
      self = .file(problem)
    } else {
      self = isConnected ? .direct : .connection
    }
  }
}
