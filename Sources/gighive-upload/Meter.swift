import Uploader

/// Speed and remaining time from the last few seconds of an upload.
struct Meter {
  private var samples: [(milliseconds: Int64, bytes: Int64)] = []
  private var startedAt: Int64?
  private var lastDue: Int64 = 0
  private(set) var elapsedMilliseconds: Int64 = 0
  private(set) var deliveredBytes: Int64 = 0
  private(set) var totalBytes: Int64 = 0

  private static let windowMilliseconds: Int64 = 3000

  init() {
    // More than the window holds at ten a second, so that a transfer under way allocates nothing.
    samples.reserveCapacity(64)
  }

  mutating func note(_ progress: Progress, nowMilliseconds now: Int64) {
    if startedAt == nil { startedAt = now }
    elapsedMilliseconds = now - (startedAt ?? now)
    deliveredBytes = progress.deliveredBytes
    totalBytes = progress.totalBytes
    // A request that is repeated begins anew.
    if let last = samples.last, last.bytes > progress.deliveredBytes { samples.removeAll(keepingCapacity: true) }
    samples.removeAll { now - $0.milliseconds > Meter.windowMilliseconds }
    samples.append((now, progress.deliveredBytes))
  }

  /// True once in every so many milliseconds.
  mutating func isDue(everyMilliseconds interval: Int64) -> Bool {
    guard elapsedMilliseconds >= lastDue + interval else { return false }
    lastDue = elapsedMilliseconds
    return true
  }

  private var window: (bytes: Int64, milliseconds: Int64) {
    guard let first = samples.first, let last = samples.last else { return (0, 0) }
    return (last.bytes - first.bytes, last.milliseconds - first.milliseconds)
  }

  /// "11.4 MB/s"
  var rateText: String { SizeText.rate(bytes: window.bytes, milliseconds: window.milliseconds) }

  /// nil as long as nothing moves.
  var remainingMilliseconds: Int64? {
    let (bytes, milliseconds) = window
    guard bytes > 0, milliseconds > 0 else { return nil }
    return (totalBytes - deliveredBytes) / max(1, bytes / milliseconds)
  }
}
