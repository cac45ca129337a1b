/// What `status` shows of a state directory.
package struct WatchStatus {
  package var isWatching: Bool
  /// What it has written (``WatchSnapshot/json(process:nowUnixMilliseconds:)``); nil if it has not written anything yet, or if there
  /// is no watcher.
  package var watcher: JSONValue?
  /// Records of uploads that are not delivered.
  package var pendingCount = 0
  package var failedCount = 0
  /// Delivered recordings that are still to be removed from this machine.
  package var removalDueCount = 0

  package init(isWatching: Bool, watcher: JSONValue?) {
    self.isWatching = isWatching
    self.watcher = watcher
  }

  /// One line for programs (docs/json.md).
  package var json: String {
    var object = JSONWriter()
    object.add("watching", isWatching)
    for member in watcher?.members ?? [] { object.add(member.name, member.value) }
    object.add("pending_count", Int64(pendingCount))
    object.add("failed_count", Int64(failedCount))
    object.add("removal_due_count", Int64(removalDueCount))
    return object.finished()
  }

  /// For people, in at most ``columns`` columns; only text to be copied is not wrapped.
  /// - Parameter recordsHint: the command that lists the records.
  package func lines(stateDirectory: LocalPath, recordsHint: String) -> [String] {
    var lines: [String] = []
    let directory = PrintableText.line(stateDirectory.text)
    if let watcher {
      let process = String(watcher["pid"]?.integer ?? 0)
      lines.append("Watching since " + WatchStatus.moment(watcher["started"]) + " (process " + process + ").")
    } else {
      let state = isWatching ? "Watching; no status yet." : "Not watching."
      lines.append(state + " State directory: " + directory)
    }
    for group in watcher?["groups"]?.elements ?? [] { lines += [""] + WatchStatus.lines(of: group) }
    if pendingCount + failedCount > 0, watcher == nil {
      lines.append(String(pendingCount) + " pending and " + String(failedCount) + " failed uploads: " + recordsHint)
    }
    if removalDueCount > 0 {
      lines.append(
        WatchStatus.recordings(Int64(removalDueCount)) + " delivered and still to be removed: " + recordsHint)
    }
    return lines
  }

  // MARK: A group

  private static func lines(of group: JSONValue) -> [String] {
    var lines = wrapped("", text(group["destination"]) + "  " + state(of: group), indent: 2)
    for directory in group["directories"]?.elements ?? [] {
      lines += row("directory", text(directory["directory"]) + "  " + state(ofDirectory: directory))
    }
    for upload in group["uploads"]?.elements ?? [] { lines += row("uploading", progress(of: upload)) }
    lines += row("waiting", amount(group, "waiting"))
    lines += failures("not ready", in: group, "unready")
    lines += failures("postponed", in: group, "postponed")
    lines += failures("set aside", in: group, "set_aside")
    lines += row("delivered", amount(group, "delivered") + " since the start")
    if let count = group["not_compared_count"]?.integer, count > 0 {
      lines += row("", recordings(count) + " delivered before, not compared: no SHA-256 is known")
    }
    if let last = group["last_delivery"], last["file"] != nil {
      let asset = last["asset_id"]?.integer.map { " (asset " + String($0) + ")" } ?? ""
      lines += row("last", name(last["file"]) + asset + ", " + moment(last["delivered"]))
    }
    return lines
  }

  /// How many recordings are not sent now, and why.
  private static func failures(_ label: String, in group: JSONValue, _ name: String) -> [String] {
    let count = group[name + "_count"]?.integer ?? 0
    guard count > 0 else { return [] }
    let shown = group[name]?.elements ?? []
    var lines = row(label, recordings(count))
    for entry in shown { lines += row("", failure(of: entry)) }
    if count > shown.count { lines += row("", "and " + String(count - Int64(shown.count)) + " more") }
    return lines
  }

  /// The path and the reason, which can begin with the file's name.
  private static func failure(of entry: JSONValue) -> String {
    let (message, start) = (text(entry["message"]), name(entry["file"]) + ": ")
    let reason = message.hasPrefix(start) ? String(message.dropFirst(start.count)) : message
    let next = entry["next_retry"].map { " Tried again " + moment($0) + "." } ?? ""
    return text(entry["file"]) + ": " + reason + next
  }

  private static func state(of group: JSONValue) -> String {
    let times = " since " + moment(group["since"]) + "; next attempt " + moment(group["next_retry"]) + ". "
    let since = times + text(group["message"])
    return switch group["state"]?.string {
    case "ready": "ready"
    case "unreachable": "unreachable" + since
    case "failing": "failing on this machine" + since
    case "paused": "PAUSED" + since
    case "waiting_for_clock": "waiting until the clock is set"
    case "waiting_for_interface": "waiting until " + text(group["interface"]) + " is up"
    case "waiting_for_former_upload": "waiting for an upload with the former options"
    case "stopped": stopped(group["process"]?.integer ?? 0)
    default: text(group["state"])
    }
  }

  private static func stopped(_ process: Int64) -> String {
    "STOPPED: a signal has stopped process " + String(process) + "; continue it with kill -CONT " + String(process)
  }

  private static func state(ofDirectory directory: JSONValue) -> String {
    let message = text(directory["message"])
    var parts = [text(directory["state"]) + (message.isEmpty ? "" : ": " + message)]
    if let free = directory["free_bytes"]?.integer { parts.append(SizeText.short(free) + " free") }
    if directory["space_short"] == .bool(true) { parts.append("TOO LITTLE SPACE") }
    return parts.joined(separator: ", ")
  }

  private static func progress(of upload: JSONValue) -> String {
    let (bytes, total) = (upload["bytes"]?.integer ?? 0, upload["total"]?.integer ?? 0)
    var parts = [name(upload["file"])]
    // Computed in this order so that the product cannot overflow.
    parts.append(String(total < 1 << 53 ? bytes * 100 / max(1, total) : bytes / max(1, total / 100)) + " %")
    parts.append(SizeText.short(bytes) + " of " + SizeText.short(total))
    if let rate = upload["bytes_per_second"]?.integer { parts.append(SizeText.short(rate) + "/s") }
    if let rest = upload["remaining_seconds"]?.integer, rest < Int64.max / 1000 {
      parts.append("ETA " + DurationText.clock(rest * 1000))
    }
    if let time = upload["arrived_until"] { parts.append("up to " + text(time).dropFirst(11).prefix(8) + " UTC") }
    return parts.joined(separator: "  ")
  }

  /// "12 recordings, 40.1 GB"
  private static func amount(_ group: JSONValue, _ name: String) -> String {
    let count = group[name + "_count"]?.integer ?? 0
    return recordings(count) + (count > 0 ? ", " + SizeText.short(group[name + "_bytes"]?.integer ?? 0) : "")
  }

  private static func recordings(_ count: Int64) -> String {
    count == 0 ? "none" : String(count) + (count == 1 ? " recording" : " recordings")
  }

  // MARK: Values

  private static func text(_ value: JSONValue?) -> String { PrintableText.line(value?.string ?? "") }

  private static func name(_ path: JSONValue?) -> String {
    PrintableText.line(LocalPath(path?.string ?? "").lastComponent)
  }

  private static func moment(_ time: JSONValue?) -> String { Timestamp.minuteText(text(time)) }

  // MARK: Layout

  package static let columns = 80

  private static func row(_ label: String, _ text: String) -> [String] {
    wrapped("  " + label + String(repeating: " ", count: 11 - label.utf8.count), text, indent: 13)
  }

  /// The text after a label, broken between words, and within a word that is too long for a line.
  /// - Parameter indent: of the second and the following lines.
  private static func wrapped(_ label: String, _ text: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = label
    var used = PrintableText.columns(of: label)
    var isEmpty = true
    func close() {
      lines.append(line)
      (line, used, isEmpty) = (margin, indent, true)
    }
    var gap = 0
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let width = PrintableText.columns(of: word)
      if width > 0, !isEmpty {
        if used + gap + width > columns {
          close()
        } else {
          line += String(repeating: " ", count: gap)
          used += gap
        }
      }
      for character in word {
        let width = PrintableText.columns(of: String(character))
        if used + width > columns { close() }
        line.append(character)
        used += width
        isEmpty = false
      }
      gap = width > 0 ? 1 : gap + 1
    }
    lines.append(line)
    return lines
  }
}

/// When a file with the current state is written: when something has changed, but not more often than every interval, so that a
/// memory card does not wear out. While nothing changes, nothing is written.
package struct WriteThrottle {
  private let interval: Int64
  private var last: Int64?
  private var isPending = false

  /// - Parameter interval: in milliseconds.
  package init(interval: Int64 = Limits.watchStatusMilliseconds) { self.interval = interval }

  package mutating func noteChange() { isPending = true }

  /// When it is due (monotonic clock); nil if nothing has changed.
  package var due: Int64? { isPending ? last.map { $0 + interval } ?? Int64.min : nil }

  /// Whether it is to be written now, which then counts as done.
  package mutating func isDue(now: Int64) -> Bool {
    guard let due, now >= due else { return false }
    (last, isPending) = (now, false)
    return true
  }
}

extension Limits {
  /// The file with a watcher's status, in bytes, as `status` reads it: hundreds of directories, each with uploads in progress and
  /// recordings set aside.
  package static let watchStatusLength = 4 << 20
  /// The shortest interval between two writes of a watcher's status, in milliseconds.
  static let watchStatusMilliseconds: Int64 = 5000
}
