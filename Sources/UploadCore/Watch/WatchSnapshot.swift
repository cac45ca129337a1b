/// What a watcher is doing: for `status`, metrics and the service manager. Contains no secrets.
package struct WatchSnapshot: Equatable, Sendable {
  /// Directories with the same options, and so with the same destination and the same worker.
  package struct Group: Equatable, Sendable {
    package var directories: [Directory] = []
    /// The destination's URL, without credentials and query.
    package var destination: String
    package var state = DestinationState.ready
    package var uploads: [Upload] = []
    /// Recordings that are found and not delivered, without those set aside.
    package var waitingCount = 0
    /// In bytes.
    package var waitingBytes: Int64 = 0
    /// Those of the waiting ones that cannot be sent yet, as while they are being written; at most ``Limits/setAsideShown``.
    package var unready: [SetAside] = []
    var unreadyCount = 0
    /// Those of the waiting ones that are not sent before a time of their own; at most ``Limits/setAsideShown``.
    package var postponed: [SetAside] = []
    package var postponedCount = 0
    /// At most ``Limits/setAsideShown``; ``setAsideCount`` counts all.
    package var setAside: [SetAside] = []
    package var setAsideCount = 0
    package var lastDelivery: LastDelivery?
    package var totals = Totals()

    package init(destination: String) { self.destination = destination }
  }

  /// Counts since the watcher started.
  package struct Totals: Equatable, Sendable {
    package var deliveredCount: Int64 = 0
    /// In bytes.
    package var deliveredBytes: Int64 = 0
    package var failedCount: Int64 = 0
    /// Recordings removed or moved after their delivery.
    package var removedCount: Int64 = 0
    /// Recordings that were delivered before, and may have been changed since: no SHA-256 is known.
    var uncertainCount: Int64 = 0

    static func += (total: inout Totals, other: Totals) {
      total.deliveredCount += other.deliveredCount
      total.deliveredBytes += other.deliveredBytes
      total.failedCount += other.failedCount
      total.removedCount += other.removedCount
      total.uncertainCount += other.uncertainCount
    }
  }

  package struct Directory: Equatable, Sendable {
    package enum State: Equatable, Sendable {
      case watched
      /// Changes are only found by scans: the file system sends no events, or there are too few inotify watches.
      case scanned
      /// It is not there, such as a card that was pulled.
      case missing
      case unreadable(String)
    }
    /// Absolute, as bytes.
    package var path: [UInt8]
    package var state = State.missing
    /// On its file system, in bytes; nil if it is not known.
    package var freeBytes: Int64?
    /// Whether that is less than `--keep-free`, and removing recordings cannot change that.
    package var isSpaceShort = false

    package init(path: [UInt8]) { self.path = path }
  }

  package enum TroubleKind: String, Equatable, Sendable {
    /// The network or the server fails. It is also tried again once the network changes.
    case unreachable
    /// This machine fails, as without permission for the state directory.
    case failing
    /// Every file would fail, as with wrong credentials. A person has to do something.
    case paused
  }

  package enum DestinationState: Equatable, Sendable {
    case ready
    /// Both times in seconds since 1970.
    case trouble(TroubleKind, since: Int64, nextAttempt: Int64, message: String)
    /// The clock shows a time before this program was built.
    case waitingForClock
    /// The network interface that the configuration names is not up.
    case waitingForInterface(String)
    /// An upload with the options before a reload has not ended.
    case waitingForFormerUpload
    /// A signal has stopped a process of the group.
    case stopped(process: Int32)
  }

  package struct Upload: Equatable, Sendable {
    /// The ID of its record; nil before it has one.
    package var id: String?
    package var path: [UInt8]
    /// Arrived, in bytes.
    package var bytes: Int64 = 0
    package var totalBytes: Int64 = 0
    /// Of the last few seconds; nil while it is not known.
    package var bytesPerSecond: Int64?
    /// What was written before this time has arrived, except the first part, in seconds since 1970; nil for a finished recording.
    package var arrivedUntil: Int64?

    package init(path: [UInt8]) { self.path = path }

    /// What is rounded differs by a second. While the recorder pauses, nothing is written to the disk.
    mutating func noteArrival(until time: Int64?) {
      if let time, let arrivedUntil, abs(time - arrivedUntil) <= 1 { return }
      arrivedUntil = time
    }
  }

  /// A recording that is not tried again until it changes, `resume` is called, or it is due, and why.
  package struct SetAside: Equatable, Sendable {
    package var id: String?
    package var path: [UInt8]
    package var message: String
    /// In seconds since 1970; nil if it is not known.
    package var since: Int64?
    /// The same; nil if it is not tried again by itself.
    package var nextAttempt: Int64?
    package init(id: String?, path: [UInt8], message: String, since: Int64?) {
      self.id = id
      self.path = path
      self.message = message
      self.since = since
    }
  }

  package struct LastDelivery: Equatable, Sendable {
    package var id: String?
    package var path: [UInt8]
    package var assetID: Int64?
    /// In seconds since 1970.
    package var at: Int64
    package init(id: String?, path: [UInt8], assetID: Int64?, at: Int64) {
      self.id = id
      self.path = path
      self.assetID = assetID
      self.at = at
    }
  }

  package var groups: [Group] = []
  /// When the watcher started, in seconds since 1970.
  package var startedAt: Int64

  package init(startedAt: Int64) { self.startedAt = startedAt }
}

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
    case .trouble(let kind, let since, let nextAttempt, let message):
      object.add("state", kind.rawValue)
      object.add("since", unixSeconds: since)
      object.add("next_retry", unixSeconds: nextAttempt)
      object.add("message", message)
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
    if let arrivedUntil {
      object.add("arrived_until", unixSeconds: arrivedUntil)
    } else if let remainingSeconds {
      object.add("remaining_seconds", remainingSeconds)
    }
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
