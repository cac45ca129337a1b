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
    case startOver
  }

  /// - Parameter offset: how much the server has, in bytes.
  static func decide(_ doubt: FileDoubt?, sent: SentPart?, offset: Int64) -> Decision {
    guard let doubt else { return .proceed }
    if let sent, offset <= sent.length { return .compare(sent) }
    // A rename or chmod(1) changes the status time, too.
    return doubt == .replaced ? .startOver : .proceed
  }
}
