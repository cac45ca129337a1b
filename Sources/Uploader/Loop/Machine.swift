import CShims
import UploadCore

/// Whether a descriptor is readable or writable.
struct Readiness: OptionSet {
  let rawValue: Int32
  static let readable = Readiness(rawValue: Int32(SHIM_POLL_READABLE))
  static let writable = Readiness(rawValue: Int32(SHIM_POLL_WRITABLE))

  /// The current readiness.
  static func of(_ descriptor: Int32, _ wanted: Readiness) -> Readiness {
    var entry = shim_poll_entry(descriptor: descriptor, events: wanted.rawValue, ready: 0)
    return shim_poll(&entry, 1, 0) == 0 ? Readiness(rawValue: entry.ready) : []
  }
}

/// What a machine waits for before its next step.
struct Wait {
  /// -1 to wait only for a time.
  var descriptor: Int32
  /// Other descriptors to wait for in the same way. The machine checks by itself which one is ready.
  var others: [Int32] = []
  var readiness: Readiness
  /// On the monotonic clock. A time in the past polls without waiting.
  var untilMilliseconds: Int64

  init(descriptor: Int32 = -1, readiness: Readiness = [], untilMilliseconds: Int64) {
    self.descriptor = descriptor
    self.readiness = readiness
    self.untilMilliseconds = untilMilliseconds
  }
}

/// Non-blocking work: it is stepped when something has happened, and returns what it waits for next.
protocol Machine: AnyObject {
  /// - Returns: nil when the work is done.
  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait?
  /// Another machine blocked the thread for this long, for example on a slow disk. Network time limits do not count it.
  func extendDeadlines(by milliseconds: Int64)
  /// Whether it leaves its place to another machine, because it only waits.
  var isWaitingOnly: Bool { get }
}

extension Machine {
  func extendDeadlines(by milliseconds: Int64) {}
  var isWaitingOnly: Bool { false }
}
