/// The snapshot in the text format of Prometheus, for the node exporter's textfile collector.
extension WatchSnapshot {
  package var metrics: String {
    var text = MetricsText()
    text.start("gighive_upload_start_time_seconds", "gauge", "When the watcher started, in seconds since 1970.")
    text.add([], startedAt)
    directoryMetrics(&text)
    destinationMetrics(&text)
    queueMetrics(&text)
    totals(&text)
    return text.text
  }

  private func directoryMetrics(_ text: inout MetricsText) {
    text.start("gighive_upload_directory_watched", "gauge", "Whether the directory exists and can be read.")
    for directory in directories {
      let isWatched = directory.state == .watched || directory.state == .scanned
      text.add([("directory", directory.path)], isWatched ? 1 : 0)
    }
    text.start("gighive_upload_directory_free_bytes", "gauge", "Free space on the directory's file system.")
    for directory in directories {
      if let free = directory.freeBytes { text.add([("directory", directory.path)], free) }
    }
    text.start(
      "gighive_upload_directory_space_short", "gauge", "Whether too little is free and nothing can be removed.")
    for directory in directories { text.add([("directory", directory.path)], directory.isSpaceShort ? 1 : 0) }
  }

  private func destinationMetrics(_ text: inout MetricsText) {
    text.start("gighive_upload_destination_ready", "gauge", "Whether the destination works, as far as is known.")
    each(&text) { $0.state == .ready ? 1 : 0 }
    text.start(
      "gighive_upload_destination_paused", "gauge", "Whether uploads are paused until someone fixes a problem.")
    each(&text) { if case .trouble(.paused, _, _, _) = $0.state { 1 } else { 0 } }
    text.start("gighive_upload_next_retry_timestamp_seconds", "gauge", "When a failing destination is retried.")
    each(&text) { if case .trouble(_, _, let nextAttempt, _) = $0.state { nextAttempt } else { nil } }
  }

  private func queueMetrics(_ text: inout MetricsText) {
    text.start("gighive_upload_active_uploads", "gauge", "Uploads in progress.")
    each(&text) { Int64($0.uploads.count) }
    text.start("gighive_upload_active_bytes", "gauge", "Size of the recordings in progress.")
    each(&text) { $0.uploads.reduce(0) { $0 &+ $1.totalBytes } }
    text.start("gighive_upload_active_arrived_bytes", "gauge", "Bytes of the recordings in progress that have arrived.")
    each(&text) { $0.uploads.reduce(0) { $0 &+ $1.bytes } }
    text.start(
      "gighive_upload_arrived_until_timestamp_seconds", "gauge",
      "What was written before has arrived, of the recording in progress that is furthest behind.")
    each(&text) { $0.uploads.compactMap { $0.arrivedUntil }.min() }
    text.start("gighive_upload_waiting_recordings", "gauge", "Recordings waiting to be uploaded.")
    each(&text) { Int64($0.waitingCount) }
    text.start("gighive_upload_waiting_bytes", "gauge", "Size of the recordings waiting to be uploaded.")
    each(&text) { $0.waitingBytes }
    text.start("gighive_upload_set_aside_recordings", "gauge", "Recordings that are set aside.")
    each(&text) { Int64($0.setAsideCount) }
    text.start("gighive_upload_last_delivery_timestamp_seconds", "gauge", "When the last recording was delivered.")
    each(&text) { $0.lastDelivery?.at }
  }

  private func totals(_ text: inout MetricsText) {
    text.start("gighive_upload_delivered_recordings_total", "counter", "Recordings delivered since the start.")
    each(&text) { $0.totals.deliveredCount }
    text.start("gighive_upload_delivered_bytes_total", "counter", "Size of the recordings delivered since the start.")
    each(&text) { $0.totals.deliveredBytes }
    text.start("gighive_upload_failed_attempts_total", "counter", "Failed attempts since the start.")
    each(&text) { $0.totals.failedCount }
    text.start("gighive_upload_removed_recordings_total", "counter", "Recordings removed after their delivery.")
    each(&text) { $0.totals.removedCount }
    text.start(
      "gighive_upload_not_compared_recordings_total", "counter",
      "Recordings delivered before that may have been changed since, and have no known SHA-256.")
    each(&text) { $0.totals.uncertainCount }
  }

  private var directories: [Directory] { groups.flatMap { $0.directories } }

  /// A sample for each group that has the value. Two groups can have the same destination, but never the same directory.
  @inline(never)
  private func each(_ text: inout MetricsText, _ value: (Group) -> Int64?) {
    for group in groups {
      guard let value = value(group) else { continue }
      let directory = group.directories.first?.path ?? []
      text.add([("destination", Array(group.destination.utf8)), ("directory", directory)], value)
    }
  }
}

private struct MetricsText {
  private(set) var text = ""
  private var head = ""
  private var name = ""

  /// Begins a metric. One without samples is left out.
  @inline(never)
  mutating func start(_ name: String, _ type: String, _ help: String) {
    self.name = name
    head = "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n"
  }

  @inline(never)
  mutating func add(_ labels: [(name: String, value: [UInt8])], _ value: Int64) {
    text += head + name
    head = ""
    if !labels.isEmpty {
      text += "{" + labels.map { $0.name + "=\"" + MetricsText.escaped($0.value) + "\"" }.joined(separator: ",") + "}"
    }
    text += " " + String(value) + "\n"
  }

  /// Labels are UTF-8 in which `\`, `"` and line feeds are escaped. Bytes that are not UTF-8 become `\xe9`, as in messages.
  private static func escaped(_ value: [UInt8]) -> String {
    var result = ""
    for scalar in PrintableText.escaped(value).unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
