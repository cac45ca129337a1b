import CShims
import Uploader

/// Reports the state of the watcher to systemd, or whatever listens to $NOTIFY_SOCKET (sd_notify(3)). Never waits.
struct ServiceManager {
  private let socket: LocalPath?
  /// The watchdog interval, in milliseconds; nil if the service manager has none.
  private let interval: Int64?
  private var lastSign: Int64?
  private var lastStatus = ""
  private var isReloading = false
  private var isStopping = false

  init() {
    socket = environmentPath("NOTIFY_SOCKET")
    interval =
      socket == nil
      ? nil
      : ServiceMessage.watchdogInterval(
        environment("WATCHDOG_USEC"), process: environment("WATCHDOG_PID"), own: shim_process_id())
  }

  var isThere: Bool { socket != nil }

  /// When the next watchdog message is due (monotonic clock); nil if none is.
  var due: Int64? { interval.map { interval in lastSign.map { $0 + interval } ?? Int64.min } }

  mutating func step(now: Int64) {
    if isReloading {
      isReloading = false
      send(ServiceMessage.ready)
    }
    if let due, now >= due {
      lastSign = now
      send(ServiceMessage.alive)
    }
  }

  func ready() { send(ServiceMessage.ready) }

  /// The next step says that it is done.
  mutating func reloading() {
    isReloading = true
    send(ServiceMessage.reloading(microseconds: shim_monotonic_microseconds()))
  }

  mutating func stopping() {
    if !isStopping { send(ServiceMessage.stopping) }
    isStopping = true
  }

  mutating func show(_ snapshot: WatchSnapshot) {
    let status = ServiceMessage.status(snapshot)
    guard status != lastStatus else { return }
    lastStatus = status
    send(status)
  }

  private func send(_ message: String) {
    guard let name = socket?.cString else { return }
    _ = message.withCString { shim_notify(name, $0) }
  }
}
