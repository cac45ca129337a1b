/// Why a file may not be the one of which the server has a part, although its size, modification time and edges are the same.
package enum FileDoubt: String, Equatable, Sendable {
  /// It may have been written to: its status time is another one, or says nothing.
  case touched
  /// It is another file on the disk.
  case replaced

  /// - Parameters:
  ///   - changed: the file's status time now.
  ///   - previous: the file that the upload began with.
  ///   - sent: what is known of the part that was sent.
  /// - Returns: nil if it is the same file and nothing has touched it, or nothing could tell.
  package init?(_ file: RecordedFile, changed: StatusTime, since previous: RecordedFile, _ sent: SentPart?) {
    let (now, then) = (file.identity, previous.identity)
    if now.hasStableInode, then.hasStableInode {
      if file.isReplaced(since: previous) {
        self = .replaced
        return
      }
      if changed == sent?.statusTime { return nil }
    }
    guard sent != nil else { return nil }
    self = .touched
  }
}

/// Decides whether an interrupted upload continues with the file that is at its path now. What follows a part of another file would
/// complete a mixture, which a server that confirms no checksum would store.
enum ContinuationPolicy {
  enum Decision: Equatable, Sendable {
    case proceed
    /// Compare this beginning of the file with what was sent.
    case compare(SentPart)
    /// Read this beginning of the file, in bytes. If nothing touches it meanwhile, it is what was sent.
    case read(length: Int64)
    case startOver
  }

  /// - Parameters:
  ///   - offset: how much the server has, in bytes.
  ///   - size: of the file, in bytes.
  ///   - digestDecides: whether only the digest of what was sent tells later if a file that is touched has changed. It must have
  ///     the beginning before more is sent, because it would not have what is sent while it catches up.
  static func decide(
    _ doubt: FileDoubt?, sent: SentPart?, offset: Int64, size: Int64, digestDecides: Bool
  ) -> Decision {
    let mustRead = digestDecides && offset > 0
    guard doubt != nil || mustRead else { return .proceed }
    if let sent, offset <= sent.length { return .compare(sent) }
    if doubt == .replaced { return .startOver }
    // A rename or chmod(1) changes the status time, too. What is there as a whole is not sent again.
    return mustRead && offset < size ? .read(length: offset) : .proceed
  }
}
