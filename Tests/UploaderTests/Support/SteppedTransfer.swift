import Testing

@testable import Uploader

/// A transfer over a scripted stream, with a clock that the test owns.
protocol SteppedTransfer: AnyObject {
  var transfer: Transfer { get }
  var stream: ScriptedStream { get }
  /// What the last step took as the time, in milliseconds.
  var now: Int64 { get set }
}

extension SteppedTransfer {
  @discardableResult
  func step(_ ready: Readiness = [.readable, .writable], at milliseconds: Int64? = nil) throws(UploadError) -> Wait? {
    now = milliseconds ?? now
    return try transfer.step(ready, nowMilliseconds: now)
  }

  /// Steps until the transfer ends, as the loop does: time passes only when nothing else can happen.
  func run() throws(UploadError) {
    var ready: Readiness = []
    for _ in 0..<1_000_000 {
      guard let wait = try step(ready) else { return }
      ready = stream.isReadable ? wait.readiness : wait.readiness.subtracting(.readable)
      if ready.isEmpty { now = max(now, wait.untilMilliseconds) }
    }
    Issue.record("the transfer does not end")
  }
}
