import CShims
import Glibc
import Uploader

/// Makes the loop look for new and cancelled uploads.
///
/// The loop polls it for writability like a caller's output. An eventfd(2) with its highest value is not writable, and reading it makes it
/// so.
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
  func raise() {
    var value: UInt64 = 0
    _ = Glibc.read(descriptor, &value, MemoryLayout<UInt64>.size)
  }

  /// Takes note of it. What was changed before ``raise()`` can be seen afterwards.
  func write() {
    var highest = UInt64.max - 1
    _ = Glibc.write(descriptor, &highest, MemoryLayout<UInt64>.size)
  }

  func admission(nowMilliseconds: Int64) -> UploadAdmission { .open }

  /// Blocks until it is raised.
  func wait() {
    var entry = shim_poll_entry(descriptor: descriptor, events: Int32(SHIM_POLL_WRITABLE), ready: 0)
    _ = shim_poll(&entry, 1, Int64.max)
    write()
  }
}
