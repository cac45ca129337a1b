/// Something that a watcher reports once: in its log, and to the program of `--on-event`. Contains no secrets.
package struct WatchNotice: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The watcher watches all its directories.
    case started
    case stopped
    case delivered
    /// It will be tried again.
    case retry
    case setAside = "set_aside"
    /// Removed or moved after its delivery.
    case removed
    /// The destination fails for every file, and a person has to do something.
    case paused
    /// The network or the server fails.
    case unreachable
    /// This machine fails, as with a state directory without permission or an upload process that is killed.
    case failing
    /// The destination works again.
    case resumed
    case directoryMissing = "directory_missing"
    case directoryFound = "directory_found"
    /// There is too little space, and no delivered recording can be removed.
    case spaceShort = "space_short"
    case spaceFree = "space_free"
    case warning
  }
  package enum Priority: Sendable { case error, warning, information }

  package var kind: Kind
  /// Sentences for people.
  package var message: String
  package var priority: Priority
  /// The file or directory that it is about, as bytes.
  package var path: [UInt8]?
  /// The ID of the upload's record.
  package var id: String?
  package var assetID: Int64?
  /// That of the failure; 0 for a delivery.
  package var exitCode: Int64?
  /// In bytes.
  package var size: Int64?

  package init(_ kind: Kind, _ message: String, _ priority: Priority = .information, path: [UInt8]? = nil) {
    self.kind = kind
    self.message = message
    self.priority = priority
    self.path = path
  }
}

extension WatchNotice {
  /// The line for the log. The journal reads the priority from its start (sd-daemon(3)).
  package func logLine(inJournal: Bool) -> String {
    (inJournal ? "<" + String(journalPriority) + ">" : "gighive-upload: ")
      + PrintableText.line(message, limit: Limits.watchNoticeLength) + "\n"
  }

  /// The priority of syslog(3).
  private var journalPriority: Int {
    switch priority {
    case .error: 3
    case .warning: 4
    case .information: 6
    }
  }

  /// The variables for the program of `--on-event`, as `NAME=VALUE`.
  /// - Parameter time: in milliseconds since 1970.
  package func environment(unixMilliseconds time: Int64) -> [[UInt8]] {
    var variables: [[UInt8]] = []
    func add(_ name: String, _ value: [UInt8]) {
      // A variable ends at a NUL.
      variables.append(Array(("GIGHIVE_EVENT_" + name + "=").utf8) + value.filter { $0 != 0 })
    }
    add("KIND", Array(kind.rawValue.utf8))
    add("MESSAGE", Array(PrintableText.line(message, limit: Limits.watchNoticeLength).utf8))
    if let path { add("FILE", path) }
    if let id { add("ID", Array(id.utf8)) }
    if let assetID { add("ASSET_ID", Array(String(assetID).utf8)) }
    if let exitCode { add("EXIT_CODE", Array(String(exitCode).utf8)) }
    if let size { add("SIZE", Array(String(size).utf8)) }
    add("TIME", Array(Timestamp.text(milliseconds: time).utf8))
    return variables
  }
}

/// Notices about directories, their file systems and this machine.
extension WatchNotice {
  /// One that begins with the directory's name.
  static func of(_ directory: LocalPath, _ kind: Kind, _ text: String, _ priority: Priority) -> WatchNotice {
    WatchNotice(kind, PrintableText.line(directory.text) + " " + text, priority, path: directory.bytes)
  }

  package static func found(_ directory: LocalPath) -> WatchNotice {
    of(directory, .directoryFound, "is being watched now.", .information)
  }

  /// - Parameter reason: why a place in the directory could not be scanned.
  package static func incomplete(_ directory: LocalPath, _ place: LocalPath, _ reason: String) -> WatchNotice {
    of(
      directory, .warning, "was not scanned completely: " + PrintableText.line(place.text) + " " + reason + ".",
      .warning)
  }

  package static func manyFailures(_ directory: LocalPath) -> WatchNotice {
    of(directory, .warning, "has more places that cannot be scanned; they are not listed.", .warning)
  }

  package static func unlocked(_ directory: LocalPath) -> WatchNotice {
    of(directory, .warning, "cannot be locked; make sure that no other watcher uses it.", .warning)
  }

  package static func shared(_ directory: LocalPath) -> WatchNotice {
    of(
      directory, .warning, "is on a shared file system; changes by other machines are found within five minutes.",
      .warning)
  }

  /// - Parameter reason: the system's.
  package static func fewWatches(_ directory: LocalPath, _ reason: String) -> WatchNotice {
    WatchNotice(
      .warning,
      "not all directories can be watched (" + reason
        + "): changes in the others are found within five minutes. The limit is fs.inotify.max_user_watches.", .warning,
      path: directory.bytes)
  }

  package static func undetectableWriters(_ file: [UInt8]) -> WatchNotice {
    WatchNotice(
      .warning,
      "cannot detect whether a file is still being written (on network file systems, and without CAP_LEASE for files "
        + "of other users): files are sent once they have not changed for five minutes.", .warning, path: file)
  }

  package static func spaceNotFreed(_ directory: LocalPath, _ space: FreeSpace, wanted: Int64) -> WatchNotice {
    let name = PrintableText.line(directory.text)
    return WatchNotice(
      .spaceShort,
      name + ": " + space.shortage(ofWanted: wanted)
        + ", although enough recordings were removed. Perhaps a snapshot still has their content.", .error,
      path: directory.bytes)
  }

  package static func spaceFree(_ directory: LocalPath, free: Int64) -> WatchNotice {
    let text = PrintableText.line(directory.text) + ": " + SizeText.short(free) + " is free again."
    return WatchNotice(.spaceFree, text, path: directory.bytes)
  }

  /// - Parameters:
  ///   - block: nil if there is none any more.
  ///   - former: what was in its place.
  /// - Returns: nil if it is not worth a line: that a reload waits for an upload, it says itself.
  package init?(_ block: WatchMachine.Block?, after former: WatchMachine.Block?) {
    switch block {
    case .clock: self.init(.warning, "nothing is sent until the clock of this machine is set.", .warning)
    case .interface(let name):
      self.init(.warning, "nothing is sent until " + PrintableText.line(name) + " is up.", .warning)
    case .stopped(let process):
      let id = String(process)
      self.init(
        .warning,
        "a signal has stopped process " + id + "; nothing is sent until it continues, with kill -CONT " + id
          + " or when the watcher gets SIGHUP.", .warning)
    case .formerUpload: return nil
    case nil where former == .formerUpload: return nil
    case nil: self.init(.resumed, "recordings are sent again.")
    }
  }
}

extension Limits {
  /// The text of a notice, in characters: an error with its advice.
  static let watchNoticeLength = 1000
}
