import CShims

/// What has become possible on a descriptor.
struct Readiness: OptionSet {
  let rawValue: Int32
  static let readable = Readiness(rawValue: Int32(SHIM_POLL_READABLE))
  static let writable = Readiness(rawValue: Int32(SHIM_POLL_WRITABLE))
}

/// What a machine needs before its next step.
struct Wait {
  /// -1 if it waits for time alone.
  var descriptor: Int32
  var readiness: Readiness
  /// On the monotonic clock. In the past: poll, but do not wait.
  var untilMilliseconds: Int64
}

/// A piece of work that never blocks: it is stepped when something has happened, and says what it waits for next.
protocol Machine: AnyObject {
  /// - Returns: nil when the work is done.
  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait?
}

/// The one loop: waits for what a machine waits for, and steps it.
func run(_ machine: some Machine, cancellation: Cancellation) throws(UploadError) {
  var ready: Readiness = []
  while let wait = try machine.step(ready, nowMilliseconds: shim_monotonic_milliseconds()) {
    let milliseconds = max(0, wait.untilMilliseconds - shim_monotonic_milliseconds())
    let result = shim_poll(wait.descriptor, wait.readiness.rawValue, cancellation.descriptor, milliseconds)
    if result < 0 { throw .outOfResources("memory for poll") }
    if result & Int32(SHIM_POLL_WOKEN) != 0 { throw .cancelled(hasSentAll: false) }
    ready = Readiness(rawValue: result)
  }
}
