/// The places below a watched directory that could not be scanned. Each is reported once, until a scan of everything no longer fails there.
package struct ScanFailures: Sendable {
  private struct Entry {
    let place: UInt64
    var reason: UInt64
    /// The scan of everything that was the last one when it failed.
    var scan: Int
  }

  package enum News: Equatable, Sendable {
    case known
    case new
    /// There is no room for it, which is to be reported once.
    case tooMany
  }

  /// In the order of their places.
  private var entries: [Entry] = []
  private var hasReportedTooMany = false

  package init() {}

  package mutating func note(_ place: LocalPath, _ reason: String, scan: Int) -> News {
    let place = WatchedFile.key(place.bytes, [])
    let reason = WatchedFile.key(Array(reason.utf8), [])
    let index = position(place)
    if index < entries.count, entries[index].place == place {
      defer { (entries[index].reason, entries[index].scan) = (reason, scan) }
      return entries[index].reason == reason ? .known : .new
    }
    guard entries.count < Limits.watchScanFailureCount else {
      defer { hasReportedTooMany = true }
      return hasReportedTooMany ? .known : .tooMany
    }
    entries.insert(Entry(place: place, reason: reason, scan: scan), at: index)
    return .new
  }

  package func contains(_ place: LocalPath) -> Bool {
    let place = WatchedFile.key(place.bytes, [])
    let index = position(place)
    return index < entries.count && entries[index].place == place
  }

  /// A scan of everything has ended: what did not fail in it is forgotten.
  package mutating func scanEnded(_ scan: Int) {
    entries.removeAll { $0.scan < scan }
    if entries.count < Limits.watchScanFailureCount { hasReportedTooMany = false }
  }

  /// Where a place is, or would be.
  private func position(_ place: UInt64) -> Int { entries.lowerBound { $0.place < place } }
}
