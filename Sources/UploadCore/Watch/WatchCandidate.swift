/// A recording that was found and is not delivered.
struct WatchCandidate: Sendable {
  enum Phase: Equatable, Sendable {
    /// It may still be being written. It is examined again at ``WatchCandidate/dueAt``.
    case settling
    /// It can be given to the worker from ``WatchCandidate/dueAt`` on.
    case ready
    /// The worker has it.
    case given(hasStarted: Bool)
    /// It failed for a reason of its own. It is examined again, because most such failures are due to a change.
    case judging(Judgement)
  }

  struct Judgement: Equatable, Sendable {
    let message: String
    /// The ID of its record.
    let id: String?
    let exitCode: Int64
    /// In seconds since 1970.
    let since: Int64
  }

  let path: [UInt8]
  var file: WatchedFile
  var phase = Phase.settling
  /// Since when it has not changed (monotonic clock).
  var seenAt: Int64
  /// On the monotonic clock.
  var dueAt: Int64
  /// How often the network or the server failed on it without progress since the destination last worked.
  var failures = 0
  /// The most bytes that one attempt has sent.
  var furthest: Int64 = 0
  /// How often the server failed on it, and how many recordings had been delivered before that.
  var serverFailures = 0
  var deliveredBefore: Int64 = 0
  /// How often a worker ended unexpectedly while sending it.
  var crashes = 0
  /// While the worker has it.
  var upload = WatchSnapshot.Upload(path: [])
  /// When the last progress was reported (monotonic clock).
  var progressAt: Int64?

  var isGiven: Bool { if case .given = phase { true } else { false } }

  /// Whether it is sent before the other one.
  func precedes(_ other: WatchCandidate, _ order: WatchOrder) -> Bool {
    // A recording that the server fails on, or whose connection always breaks, must not hold up the others.
    if serverFailures != other.serverFailures { return serverFailures < other.serverFailures }
    if failures != other.failures { return failures < other.failures }
    if file.isBegun != other.file.isBegun { return file.isBegun }
    let (one, another) = (file.modifiedSeconds, other.file.modifiedSeconds)
    switch order {
    case .oldest where one != another: return one < another
    case .newest where one != another: return one > another
    case .smallest where file.size != other.file.size: return file.size < other.file.size
    default: return path.lexicographicallyPrecedes(other.path)
    }
  }
}

/// Which recording is sent first.
package enum WatchOrder: Sendable { case oldest, newest, smallest, name }

/// A recording that is not tried again until it changes.
struct SetAsideFile: Sendable {
  let key: UInt64
  let path: [UInt8]
  /// Nil if there are too many.
  let shown: WatchSnapshot.SetAside?
}

/// A recording that was delivered and could not be removed at that moment.
struct PostponedRemoval: Sendable {
  let path: [UInt8]
  /// When to examine it again (monotonic clock), and how long to wait after that, both in milliseconds.
  private(set) var dueAt: Int64
  private var pause = Limits.watchRemovalMilliseconds

  init(_ path: [UInt8], _ now: Int64) {
    self.path = path
    dueAt = now + pause
  }

  mutating func postpone(_ now: Int64) {
    pause = min(2 * pause, Limits.watchRemovalMaximumMilliseconds)
    dueAt = now + pause
  }
}
