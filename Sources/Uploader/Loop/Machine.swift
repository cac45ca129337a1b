import CShims
import UploadCore

/// What has become possible on a descriptor.
struct Readiness: OptionSet {
  let rawValue: Int32
  static let readable = Readiness(rawValue: Int32(SHIM_POLL_READABLE))
  static let writable = Readiness(rawValue: Int32(SHIM_POLL_WRITABLE))

  /// What is possible at this moment.
  static func of(_ descriptor: Int32, _ wanted: Readiness) -> Readiness {
    var entry = shim_poll_entry(descriptor: descriptor, events: wanted.rawValue, ready: 0)
    return shim_poll(&entry, 1, 0) == 0 ? Readiness(rawValue: entry.ready) : []
  }
}

/// What a machine needs before its next step.
struct Wait {
  /// -1 if it waits for time alone.
  var descriptor: Int32
  /// Further descriptors, waited for in the same way. The machine looks for itself which of all of them is ready.
  var others: [Int32] = []
  var readiness: Readiness
  /// On the monotonic clock. In the past: poll, but do not wait.
  var untilMilliseconds: Int64

  init(descriptor: Int32 = -1, readiness: Readiness = [], untilMilliseconds: Int64) {
    self.descriptor = descriptor
    self.readiness = readiness
    self.untilMilliseconds = untilMilliseconds
  }
}

/// A piece of work that never blocks: it is stepped when something has happened, and says what it waits for next.
protocol Machine: AnyObject {
  /// - Returns: nil when the work is done.
  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait?
  /// Another machine has kept the thread for so long, as a slow disk does: no time limit of the network's counts it.
  func excuse(_ milliseconds: Int64)
}

extension Machine {
  func excuse(_ milliseconds: Int64) {}
}
