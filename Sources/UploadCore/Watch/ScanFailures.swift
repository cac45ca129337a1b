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

/// Why a directory is not watched, or not all of it.
package enum DirectoryProblem: Equatable, Sendable {
  case missing
  /// It is missing now, and was watched before.
  case gone
  /// Why it cannot be watched.
  case unusable(String)
  /// Another watcher has locked it.
  case locked

  package var state: WatchSnapshot.Directory.State {
    switch self {
    case .missing, .gone: .missing
    case .unusable(let reason): .unreadable(reason)
    case .locked: .unreadable("another watcher has locked it")
    }
  }

  package func notice(of directory: LocalPath) -> WatchNotice {
    let text =
      switch self {
      case .missing:
        "does not exist; it will be watched once it appears."
          + (DirectoryProblem.mayBePrivate(directory) ? " A service with PrivateTmp= has a /tmp of its own." : "")
      case .gone: "is gone; it will be watched again once it is back."
      case .unusable(let reason): "cannot be watched: " + reason + "."
      case .locked: "is watched by another process."
      }
    return .of(directory, .directoryMissing, text, .warning)
  }

  private static func mayBePrivate(_ directory: LocalPath) -> Bool {
    ["/tmp/", "/var/tmp/"].contains { directory.bytes.starts(with: $0.utf8) }
  }
}

extension Limits {
  /// Places that could not be scanned and are remembered, in each watched directory, with 24 bytes for each. Of more, one line says that.
  static let watchScanFailureCount = 1024
}
