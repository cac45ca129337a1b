/// Messages to the service manager (sd_notify(3)).
package enum ServiceMessage {
  package static let ready = "READY=1"
  package static let stopping = "STOPPING=1"
  package static let alive = "WATCHDOG=1"

  /// - Parameter microseconds: of the monotonic clock.
  package static func reloading(microseconds: Int64) -> String {
    "RELOADING=1\nMONOTONIC_USEC=" + String(microseconds)
  }

  package static func status(_ snapshot: WatchSnapshot) -> String { "STATUS=" + snapshot.summary }

  /// The interval of ``alive`` in milliseconds: half of what the service manager waits for.
  /// - Parameters:
  ///   - microseconds: $WATCHDOG_USEC.
  ///   - process: $WATCHDOG_PID; nil if it is not set.
  /// - Returns: nil if the service manager does not wait for it, or for that of another process.
  package static func watchdogInterval(_ microseconds: String?, process: String?, own: Int64) -> Int64? {
    if let process, ASCII.decimal(process.utf8) != own { return nil }
    guard let microseconds, let limit = ASCII.decimal(microseconds.utf8), limit > 0 else { return nil }
    return max(1, limit / 2000)
  }
}

extension WatchSnapshot {
  /// "2 uploading, 12 waiting (40.1 GB), 1 set aside; https://gighive paused"
  package var summary: String {
    func sum(_ value: (Group) -> Int) -> Int { groups.reduce(0) { $0 + value($1) } }
    let (active, waiting, aside) = (sum { $0.uploads.count }, sum { $0.waitingCount }, sum { $0.setAsideCount })
    var parts: [String] = []
    if active > 0 { parts.append(String(active) + " uploading") }
    if waiting > 0 {
      let bytes = groups.reduce(0) { $0 &+ $1.waitingBytes }
      parts.append(String(waiting) + " waiting (" + SizeText.short(bytes) + ")")
    }
    if aside > 0 { parts.append(String(aside) + " set aside") }
    let troubles = groups.compactMap { $0.trouble }
    return (parts.isEmpty ? ["nothing to upload"] : parts).joined(separator: ", ")
      + troubles.map { "; " + $0 }.joined()
  }
}

extension WatchSnapshot.Group {
  /// Why nothing is sent; nil if nothing is wrong.
  fileprivate var trouble: String? {
    switch state {
    case .ready: nil
    case .trouble(.failing, _, _, _): "uploads fail on this machine"
    case .trouble(let kind, _, _, _): PrintableText.line(destination) + " " + kind.rawValue
    case .waitingForClock: "the clock is not set"
    case .waitingForInterface(let name): PrintableText.line(name) + " is not up"
    case .waitingForFormerUpload: "an upload with the former options has not ended"
    case .stopped(let process): "process " + String(process) + " is stopped"
    }
  }
}
