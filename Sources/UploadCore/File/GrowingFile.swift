/// How a recording is sent while it is made.
package struct LiveSending: Equatable, Sendable {
  /// It has ended once no program writes to it, and it has not changed for so long.
  package var settleMilliseconds: Int64
  /// What is nearer to its end, in bytes, is sent when it has grown or ended: recorders write there again.
  package var lag: Int64 = Limits.growingLag
  /// Whether its upload is cancelled if its file is removed before it has ended. Otherwise it is delivered.
  package var isCancelledByRemoval = false

  package init(settleMilliseconds: Int64) { self.settleMilliseconds = settleMilliseconds }

  /// How large a recording is when its first parts are sent, in bytes.
  package var startingSize: Int64 { 2 * Limits.partLength + lag }
}

/// What has become of a recording that is sent while it is made.
package enum Growth: Equatable, Sendable {
  /// It has as many bytes as were awaited.
  case enough
  case ended
  /// Its file was removed, and its upload is cancelled.
  case removed
}

/// A recording while it is made: how much of it there is, and whether it has ended.
package struct GrowingFile: Equatable, Sendable {
  /// What the file system says of it.
  package struct Look: Equatable, Sendable {
    /// Up to the last byte that was written, in bytes. Space that a recorder has reserved behind it does not count.
    let length: Int64
    let changed: StatusTime
    /// How long ago that was by this machine's clock, in milliseconds.
    let ageMilliseconds: Int64
    let writers: FileWriters

    package init(length: Int64, changed: StatusTime, ageMilliseconds: Int64, writers: FileWriters) {
      (self.length, self.changed, self.ageMilliseconds, self.writers) = (length, changed, ageMilliseconds, writers)
    }
  }

  private let live: LiveSending
  /// What there was of it at the last look, in bytes.
  package private(set) var length: Int64 = 0
  private var changed: StatusTime?
  private var unchangedSinceMilliseconds: Int64 = 0
  private var history = GrowthHistory()

  package init(_ live: LiveSending) { self.live = live }

  /// Whether its upload is cancelled if it is removed now.
  package var isCancelledByRemoval: Bool { live.isCancelledByRemoval }

  /// For the user of a server that gets it when it has ended.
  package static func waiting(_ path: LocalPath) -> String {
    PrintableText.line(path.lastComponent) + ": is sent when it has ended, because this server joins no parts."
  }

  /// - Parameter now: on a monotonic clock, in milliseconds.
  /// - Returns: whether it has ended: no program writes to it, as far as that can be told, and it has not changed for long enough.
  package mutating func hasEnded(_ look: Look, nowMilliseconds now: Int64) -> Bool {
    if changed != look.changed || length != look.length {
      // Only at first it may have been unchanged for longer.
      unchangedSinceMilliseconds = changed == nil ? now - max(0, look.ageMilliseconds) : now
    }
    (length, changed) = (look.length, look.changed)
    history.note(look.length, nowMilliseconds: now)
    switch look.writers {
    case .writer, .notNow: return false
    case .noWriter, .undetectable: return now - unchangedSinceMilliseconds >= live.settleMilliseconds
    }
  }

  /// How far its upload is.
  /// - Parameters:
  ///   - delivered: how much of it has arrived, in bytes.
  ///   - isInOrder: whether that is its beginning. Otherwise, its first part is sent last.
  ///   - length: how much of it there is now, in bytes.
  package mutating func progress(
    delivered: Int64, isInOrder: Bool = false, of length: Int64, nowMilliseconds now: Int64
  ) -> UploadProgress {
    history.note(length, nowMilliseconds: now)
    let offset = delivered == 0 || isInOrder ? delivered : delivered + Limits.partLength
    return UploadProgress(
      // Callers divide by it.
      deliveredBytes: min(delivered, length), totalBytes: max(1, length),
      behindMilliseconds: history.age(at: offset, nowMilliseconds: now))
  }
}

/// When a recording that grows had which length. It knows a fixed number of times, which are further apart the older the oldest is.
struct GrowthHistory: Equatable, Sendable {
  private struct Point: Equatable, Sendable {
    let length: Int64
    let milliseconds: Int64
  }

  static let capacity = 64
  /// The longer ones come later.
  private var points: [Point] = []
  private var intervalMilliseconds = Limits.growthMilliseconds

  init() {
    // Nothing is allocated while a part is sent.
    points.reserveCapacity(GrowthHistory.capacity)
  }

  /// - Parameters:
  ///   - length: in bytes.
  ///   - now: on a monotonic clock, in milliseconds.
  mutating func note(_ length: Int64, nowMilliseconds now: Int64) {
    // After a truncation, what follows the new end is not written yet.
    if let last = points.last, length < last.length { points.removeAll { $0.length > length } }
    if let last = points.last, length == last.length || now - last.milliseconds < intervalMilliseconds { return }
    if points.count == GrowthHistory.capacity {
      var isKept = false
      points.removeAll { _ in
        isKept.toggle()
        return !isKept
      }
      intervalMilliseconds *= 2
    }
    points.append(Point(length: length, milliseconds: now))
  }

  /// How long ago the byte at this offset was written, in milliseconds; 0 if it was not, or just now. What comes before it is forgotten.
  mutating func age(at offset: Int64, nowMilliseconds now: Int64) -> Int64 {
    points.removeAll { $0.length <= offset }
    guard let first = points.first else {
      intervalMilliseconds = Limits.growthMilliseconds
      return 0
    }
    return now - first.milliseconds
  }
}

extension Limits {
  /// What is nearer to the end of a recording that grows is not sent yet, in bytes: recorders write it again.
  static let growingLag: Int64 = 4 << 20
}
