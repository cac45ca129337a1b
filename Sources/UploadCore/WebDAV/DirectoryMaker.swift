/// Makes directories of a WebDAV server that are missing: from the innermost up to one that is there or can be made, and down again.
struct DirectoryMaker: Sendable {
  private let directories: [TargetURI]
  private var index = 0
  /// Whether the one above is there.
  private var isDescending = false

  /// - Parameter directories: from the innermost.
  /// - Returns: nil if there are none.
  init?(_ directories: [TargetURI]) {
    guard !directories.isEmpty else { return nil }
    self.directories = directories
  }

  var request: HTTPRequest { HTTPRequest(method: "MKCOL", target: directories[index]) }

  /// - Returns: whether all of them are there.
  mutating func receive(_ answer: Answer) throws(UploadError) -> Bool {
    switch answer.status {
    // 405: it is there (RFC 4918, 9.3.1).
    case 200, 201, 405:
      if index == 0 { return true }
      (index, isDescending) = (index - 1, true)
    case 404, 409:
      guard !isDescending, index + 1 < directories.count else { throw .serverDirectoryMissing(status: answer.status) }
      index += 1
    default: throw answer.davRefusal
    }
    return false
  }
}
