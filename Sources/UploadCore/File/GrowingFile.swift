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

  private let settleMilliseconds: Int64
  /// What there was of it at the last look, in bytes.
  package private(set) var length: Int64 = 0
  private var changed: StatusTime?
  private var unchangedSinceMilliseconds: Int64 = 0

  /// - Parameter settleMilliseconds: for how long it has not changed when it has ended.
  package init(settleMilliseconds: Int64) { self.settleMilliseconds = settleMilliseconds }

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
    switch look.writers {
    case .writer, .notNow: return false
    case .noWriter, .undetectable: return now - unchangedSinceMilliseconds >= settleMilliseconds
    }
  }
}
