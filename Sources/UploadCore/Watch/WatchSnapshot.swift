/// What a watcher is doing: for `status`, metrics and the service manager. Contains no secrets.
package struct WatchSnapshot: Equatable, Sendable {
  /// Directories with the same options, and so with the same destination and the same worker.
  package struct Group: Equatable, Sendable {
    package var directories: [Directory] = []
    /// The destination's URL, without credentials and query.
    package var destination: String
    package var state = DestinationState.ready
    /// In progress.
    package var uploads: [Upload] = []
    /// Recordings that are found and not delivered, without those set aside.
    package var waitingCount = 0
    /// In bytes.
    package var waitingBytes: Int64 = 0
    /// Those of the waiting ones that cannot be sent yet, as while they are being written; at most ``Limits/setAsideShown``.
    package var unready: [SetAside] = []
    package var unreadyCount = 0
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
    /// Failed attempts.
    package var failedCount: Int64 = 0
    /// Recordings removed or moved after their delivery.
    package var removedCount: Int64 = 0
    /// Recordings that were delivered before, and may have been changed since: no SHA-256 is known.
    package var uncertainCount: Int64 = 0

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

  package enum DestinationState: Equatable, Sendable {
    case ready
    /// The network or the server fails; the next attempt is at `nextAttempt`, in seconds since 1970, or once the network changes.
    case unreachable(since: Int64, nextAttempt: Int64, message: String)
    /// The same for this machine, as without permission for the state directory.
    case failing(since: Int64, nextAttempt: Int64, message: String)
    /// Every file would fail, as with wrong credentials. A person has to do something; it is probed at `nextAttempt`.
    case paused(since: Int64, nextAttempt: Int64, message: String)
    /// The clock shows a time before this program was built.
    case waitingForClock
    /// The network interface of `--interface` is not up.
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

    package init(path: [UInt8]) { self.path = path }
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
