/// The snapshot as JSON: what `status --json` prints of a watcher (docs/json.md).
extension WatchSnapshot {
  /// - Parameters:
  ///   - process: the watcher's process ID.
  ///   - now: in milliseconds since 1970.
  package func json(process: Int64, nowUnixMilliseconds now: Int64) -> String {
    var object = JSONWriter()
    object.add("pid", process)
    object.add("started", unixSeconds: startedAt)
    object.add("updated", unixMilliseconds: now)
    object.add("groups", groups.map { $0.json })
    return object.finished()
  }
}

extension WatchSnapshot.Group {
  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    object.add("destination", destination)
    state.add(to: &object)
    object.add("directories", directories.map { $0.json })
    object.add("uploads", uploads.map { $0.json })
    object.add("waiting_count", Int64(waitingCount))
    object.add("waiting_bytes", waitingBytes)
    object.add("unready_count", Int64(unreadyCount))
    object.add("unready", unready.map { $0.json })
    object.add("postponed_count", Int64(postponedCount))
    object.add("postponed", postponed.map { $0.json })
    object.add("set_aside_count", Int64(setAsideCount))
    object.add("set_aside", setAside.map { $0.json })
    if let lastDelivery { object.add("last_delivery", lastDelivery.json) } else { object.addNull("last_delivery") }
    object.add("delivered_count", totals.deliveredCount)
    object.add("delivered_bytes", totals.deliveredBytes)
    object.add("failed_count", totals.failedCount)
    object.add("removed_count", totals.removedCount)
    object.add("not_compared_count", totals.uncertainCount)
    return object
  }
}

extension WatchSnapshot.DestinationState {
  fileprivate func add(to object: inout JSONWriter) {
    switch self {
    case .ready: object.add("state", "ready")
    case .unreachable(let since, let nextAttempt, let message):
      DestinationTrouble(since: since, nextAttempt: nextAttempt, message: message).add("unreachable", to: &object)
    case .failing(let since, let nextAttempt, let message):
      DestinationTrouble(since: since, nextAttempt: nextAttempt, message: message).add("failing", to: &object)
    case .paused(let since, let nextAttempt, let message):
      DestinationTrouble(since: since, nextAttempt: nextAttempt, message: message).add("paused", to: &object)
    case .waitingForClock: object.add("state", "waiting_for_clock")
    case .waitingForInterface(let name):
      object.add("state", "waiting_for_interface")
      object.add("interface", name)
    case .waitingForFormerUpload: object.add("state", "waiting_for_former_upload")
    case .stopped(let process):
      object.add("state", "stopped")
      object.add("process", Int64(process))
    }
  }
}

private struct DestinationTrouble {
  let since: Int64
  let nextAttempt: Int64
  let message: String

  func add(_ state: String, to object: inout JSONWriter) {
    object.add("state", state)
    object.add("since", unixSeconds: since)
    object.add("next_retry", unixSeconds: nextAttempt)
    object.add("message", message)
  }
}

extension WatchSnapshot.Directory {
  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    object.add(file: LocalPath(bytes: path), as: "directory")
    switch state {
    case .watched: object.add("state", "watched")
    case .scanned: object.add("state", "scanned")
    case .missing: object.add("state", "missing")
    case .unreadable(let message):
      object.add("state", "unreadable")
      object.add("message", message)
    }
    if let freeBytes { object.add("free_bytes", freeBytes) }
    object.add("space_short", isSpaceShort)
    return object
  }
}

extension WatchSnapshot.Upload {
  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    object.add(id: id)
    object.add(file: LocalPath(bytes: path))
    object.add("bytes", bytes)
    object.add("total", totalBytes)
    if let bytesPerSecond { object.add("bytes_per_second", bytesPerSecond) }
    if let remainingSeconds { object.add("remaining_seconds", remainingSeconds) }
    return object
  }

  /// At the current speed; nil while nothing moves.
  private var remainingSeconds: Int64? {
    guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return max(0, totalBytes - bytes) / bytesPerSecond
  }
}

extension WatchSnapshot.SetAside {
  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    object.add(id: id)
    object.add(file: LocalPath(bytes: path))
    if let since { object.add("since", unixSeconds: since) }
    if let nextAttempt { object.add("next_retry", unixSeconds: nextAttempt) }
    object.add("message", message)
    return object
  }
}

extension WatchSnapshot.LastDelivery {
  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    object.add(id: id)
    object.add(file: LocalPath(bytes: path))
    object.add("delivered", unixSeconds: at)
    if let assetID { object.add("asset_id", assetID) }
    return object
  }
}

extension JSONWriter {
  fileprivate mutating func add(id: String?) {
    if let id { add("id", id) } else { addNull("id") }
  }
}
