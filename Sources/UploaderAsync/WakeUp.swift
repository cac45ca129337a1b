import CShims
import Uploader

/// Makes the loop look for new and cancelled uploads.
///
/// The loop polls it for writability like a caller's output: a full eventfd(2) is not writable, and clearing it makes it so.
final class WakeUp: CallerOutput, Sendable {
  /// Negative if the system has none left.
  let descriptor: Int32
  let blocked: [Int32]

  init() {
    descriptor = shim_event_create()
    blocked = [descriptor]
    write()
  }

  deinit { if descriptor >= 0 { _ = shim_close(descriptor) } }

  /// Can be called from any thread. Several calls count as one.
  func raise() { shim_event_lower(descriptor) }

  /// Takes note of it. What was changed before ``raise()`` can be seen afterwards.
  func write() { shim_event_fill(descriptor) }

  func admission(nowMilliseconds: Int64) -> UploadAdmission { .open }

  /// Blocks until it is raised.
  func wait() {
    var entry = shim_poll_entry(descriptor: descriptor, events: Int32(SHIM_POLL_WRITABLE), ready: 0)
    _ = shim_poll(&entry, 1, Int64.max)
    write()
  }
}
