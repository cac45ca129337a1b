/// The text of a notice.
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
