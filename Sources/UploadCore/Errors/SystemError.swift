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
