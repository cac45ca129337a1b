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
    let id: String?
    let exitCode: Int64
    /// In seconds since 1970.
    let since: Int64
    let again: Reattempt
    /// Whether it was tried several times already.
    let isRetried: Bool
  }

  /// What its attempts came to, since it was found or last changed.
  struct Attempts: Sendable {
    /// How often the network or the server failed without progress since the destination last worked.
    var failures = 0
    /// The most bytes that one attempt has sent.
    var furthest: Int64 = 0
    /// How often the server failed, and how many recordings had been delivered before that.
    var serverFailures = 0
    var deliveredBefore: Int64 = 0
    /// How often a worker ended unexpectedly.
    var crashes = 0
  }

  let path: [UInt8]
  var file: WatchedFile
  /// Whether it has grown since it was delivered.
  let hasGrown: Bool
  /// Whether it was delivered, and only its content can tell whether it has been changed since.
  var isComparison = false
  /// Whether it is being written, and is sent while it is made.
  var isGrowing = false
  /// Whether that has failed for a reason of its own.
  var hasFailedWhileMade = false
  var phase = Phase.settling
  /// Since when it has not changed (monotonic clock).
  var seenAt: Int64
  /// On the monotonic clock.
  var dueAt: Int64
  var attempts = Attempts()
  /// Why it is not sent before ``dueAt``, for people; nil if it need not wait.
  var waitReason: String?
  /// From when on a sign that the server works again allows it to be sent once more before that (monotonic clock).
  var extraFrom: Int64 = 0
  /// While the worker has it.
  var upload = WatchSnapshot.Upload(path: [])
  /// When the last progress was reported (monotonic clock).
  var progressAt: Int64?

  /// Why it cannot be sent yet, for people; nil if it can, or waits until a time of its own.
  var unreadyReason: String? {
    switch phase {
    case .given: nil
    case .judging(let judgement): judgement.message
    case .ready: isComparison ? "It was delivered before, and is compared when nothing is sent." : nil
    case .settling: unsettledReason
    }
  }

  private var unsettledReason: String {
    let time = "it is sent when it has not changed for some time."
    switch file.writers {
    case .writer: return "It is still being written."
    case .notNow: return "Whether it is still being written cannot be found out now."
    case .undetectable: return "Whether it is still being written cannot be found out: " + time
    case .noWriter where hasGrown: return "It has grown since its delivery: " + time
    case .noWriter, nil: return "It has just changed."
    }
  }

  var isGiven: Bool { if case .given = phase { true } else { false } }

  func precedes(_ other: WatchCandidate, _ order: WatchOrder) -> Bool {
    if isComparison != other.isComparison { return other.isComparison }
    if isGrowing != other.isGrowing { return isGrowing }
    // A recording that the server fails on, or whose connection always breaks, must not hold up the others.
    let (tried, others) = (attempts, other.attempts)
    if tried.serverFailures != others.serverFailures { return tried.serverFailures < others.serverFailures }
    if tried.failures != others.failures { return tried.failures < others.failures }
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

/// The recordings that were found and are not delivered, at most ``Limits/watchedCandidates``. Each look at a file asks whether it is one
/// of them, so a hash of each path is beside the others: comparing thousands of paths took longer than everything else.
struct CandidateList: RandomAccessCollection, MutableCollection, Sendable {
  private var candidates: [WatchCandidate] = []
  private var hashes: [UInt64] = []

  var startIndex: Int { 0 }
  var endIndex: Int { candidates.count }

  subscript(index: Int) -> WatchCandidate {
    get { candidates[index] }
    _modify { yield &candidates[index] }
  }

  func position(of path: [UInt8]) -> Int? {
    let hash = WatchedFile.key(path, [])
    return hashes.indices.first { hashes[$0] == hash && candidates[$0].path == path }
  }

  mutating func append(_ candidate: WatchCandidate) {
    candidates.append(candidate)
    hashes.append(WatchedFile.key(candidate.path, []))
  }

  @discardableResult
  mutating func remove(at index: Int) -> WatchCandidate {
    hashes.remove(at: index)
    return candidates.remove(at: index)
  }

  mutating func removeAll(where isRemoved: (WatchCandidate) -> Bool) {
    for index in candidates.indices.reversed() where isRemoved(candidates[index]) { remove(at: index) }
  }
}
