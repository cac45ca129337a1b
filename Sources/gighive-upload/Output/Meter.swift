import Uploader

/// Speed and remaining time from the last few seconds of an upload.
struct Meter {
  private var samples: [(milliseconds: Int64, bytes: Int64)] = []
  private var startedAt: Int64?
  private var lastDue: Int64 = 0
  private(set) var elapsedMilliseconds: Int64 = 0
  private(set) var deliveredBytes: Int64 = 0
  private(set) var totalBytes: Int64 = 0
  /// Nil for a finished recording.
  private(set) var behindMilliseconds: Int64?

  private static let windowMilliseconds: Int64 = 3000

  init() {
    // More than the window holds at ten per second, so that a running transfer allocates nothing.
    samples.reserveCapacity(64)
  }

  mutating func add(_ progress: UploadProgress, nowMilliseconds now: Int64) {
    if startedAt == nil { startedAt = now }
    elapsedMilliseconds = now - (startedAt ?? now)
    deliveredBytes = progress.deliveredBytes
    totalBytes = progress.totalBytes
    behindMilliseconds = progress.behindMilliseconds
    // A repeated request starts over.
    if let last = samples.last, last.bytes > progress.deliveredBytes { samples.removeAll(keepingCapacity: true) }
    samples.removeAll { now - $0.milliseconds > Meter.windowMilliseconds }
    // Requests shorter than the interval report once each, so samples are kept 50 ms apart, except the newest.
    let count = samples.count
    if count > 1, samples[count - 1].milliseconds - samples[count - 2].milliseconds < 50 { samples.removeLast() }
    samples.append((now, progress.deliveredBytes))
  }

  /// True at most once per interval.
  mutating func isDue(everyMilliseconds interval: Int64) -> Bool {
    guard elapsedMilliseconds >= lastDue + interval else { return false }
    lastDue = elapsedMilliseconds
    return true
  }

  /// The bytes of the last few seconds.
  fileprivate var window: (bytes: Int64, milliseconds: Int64) {
    guard let first = samples.first, let last = samples.last else { return (0, 0) }
    return (last.bytes - first.bytes, last.milliseconds - first.milliseconds)
  }

  /// "11.4 MB/s"; nil while nothing moves.
  var rateText: String? { MeterReading.rateText(window.bytes, window.milliseconds) }
}

/// The combined reading of the meters of all files being uploaded.
struct MeterReading {
  let deliveredBytes: Int64
  let totalBytes: Int64
  /// "11.4 MB/s"; nil while nothing moves.
  let rateText: String?
  /// nil while nothing moves.
  let remainingMilliseconds: Int64?
  /// How far the recording that is furthest behind is; nil if all are finished.
  let behindMilliseconds: Int64?

  init(_ meters: [Meter]) {
    deliveredBytes = meters.reduce(0) { $0 + $1.deliveredBytes }
    totalBytes = meters.reduce(0) { $0 + $1.totalBytes }
    let bytes = meters.reduce(0) { $0 + $1.window.bytes }
    let milliseconds = meters.map { $0.window.milliseconds }.max() ?? 0
    rateText = MeterReading.rateText(bytes, milliseconds)
    behindMilliseconds = meters.compactMap { $0.behindMilliseconds }.max()
    let isMoving = bytes > 0 && milliseconds > 0
    remainingMilliseconds =
      isMoving ? (totalBytes - deliveredBytes) / max(1, bytes * 1000 / milliseconds) * 1000 : nil
  }

  fileprivate static func rateText(_ bytes: Int64, _ milliseconds: Int64) -> String? {
    bytes > 0 && milliseconds > 0 ? SizeText.rate(bytes: bytes, milliseconds: milliseconds) : nil
  }
}
