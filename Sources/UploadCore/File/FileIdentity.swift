/// Identifies a recording, and detects changes.
package struct FileIdentity: Equatable, Sendable {
  package let device: UInt64
  /// 0 where inode numbers are not stable (``FileSystem/Kind``).
  package let inode: UInt64
  /// Whether its times are local time, and inexact (``FileSystem/Kind/fat``).
  package let hasLocalTimes: Bool
  /// Bytes.
  package let size: Int64
  package let modifiedSeconds: Int64
  package let modifiedNanoseconds: Int64
  /// SHA-256 of the first and the last `Limits.edgeLength` bytes, in hexadecimal digits.
  package let edges: String

  package init(
    device: UInt64, inode: UInt64, hasLocalTimes: Bool = false, size: Int64, modifiedSeconds: Int64,
    modifiedNanoseconds: Int64, edges: String
  ) {
    self.device = device
    self.inode = inode
    self.hasLocalTimes = hasLocalTimes
    self.size = size
    self.modifiedSeconds = modifiedSeconds
    self.modifiedNanoseconds = modifiedNanoseconds
    self.edges = edges
  }

  /// Whether this is the same file on disk, whatever its name.
  package func isSameFile(as other: FileIdentity) -> Bool {
    hasStableInode && device == other.device && inode == other.inode
  }

  package var hasStableInode: Bool { inode != 0 }

  /// How the recording differs from `previous`; nil if it is the same. Device and inode are ignored: they change when a
  /// stick is removed and inserted again.
  package func change(since previous: FileIdentity) -> FileChange? {
    if size != previous.size { return .size(from: previous.size, to: size) }
    if edges != previous.edges { return .content }
    return hasSameTime(as: previous) ? nil : .modificationTime
  }

  /// Whether the modification times are the same. Where inodes are not stable, they may be rounded to two seconds. FAT keeps them as
  /// local time, too: another time zone or daylight saving time shifts them by whole quarters of an hour.
  private func hasSameTime(as other: FileIdentity) -> Bool {
    if modifiedSeconds == other.modifiedSeconds, modifiedNanoseconds == other.modifiedNanoseconds { return true }
    guard !(hasStableInode && other.hasStableInode) else { return false }
    let (difference, overflows) = modifiedSeconds.subtractingReportingOverflow(other.modifiedSeconds)
    guard !overflows else { return false }
    if difference.magnitude <= UInt64(FileIdentity.timeResolution) { return true }
    guard hasLocalTimes || other.hasLocalTimes, difference.magnitude <= UInt64(FileIdentity.largestTimeShift) else {
      return false
    }
    let rest = difference.magnitude % UInt64(FileIdentity.timeShift)
    return min(rest, UInt64(FileIdentity.timeShift) - rest) <= UInt64(FileIdentity.timeResolution)
  }

  /// By how much the times of a file on FAT can differ from those in another time zone, in seconds: the smallest shifts first.
  package static var timeShifts: [Int64] {
    [0] + (1...largestTimeShift / timeShift).flatMap { [$0 * timeShift, -$0 * timeShift] }
  }

  /// The shifts of time zones are multiples of this, in seconds.
  private static let timeShift: Int64 = 900
  /// From UTC-12 to UTC+14, in seconds.
  private static let largestTimeShift: Int64 = 26 * 3600
  /// The times of FAT, in seconds.
  private static let timeResolution: Int64 = 2
}

/// How a recording differs from the one that an upload started with.
public enum FileChange: Equatable, Sendable {
  /// Bytes.
  case size(from: Int64, to: Int64)
  /// The first or last bytes.
  case content
  /// It has been written to.
  case modificationTime
}

/// The time of the last change of a file's status (ctime), which cannot be set: any write to the file changes it.
package struct StatusTime: Equatable, Sendable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64, nanoseconds: Int64) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

/// When a change of only the file's status (ctime) was noticed: its size and modification time are the same.
package enum StatusChange: Equatable, Sendable {
  /// Before the end of the file was read.
  case whileReading
  /// The end of the file has been read, and is held back. `isDigested`: whether the digest covers every byte first sent since the
  /// file was last seen unchanged.
  case beforeEnd(isDigested: Bool)
  /// The whole file was sent, as pages that could still change in transit.
  case afterEnd
}

/// Why a file's modification time may not say on which day it was recorded.
package enum ModificationTimeDoubt: Equatable, Sendable {
  /// It is from a clock that was never set, such as one that starts in 1970.
  case neverSet
  /// It is from before this program was made, as is the time of this machine's clock, which may have set it.
  case wrongClock
  /// It is far in the future.
  case future

  /// - Parameters:
  ///   - modified: seconds since 1970.
  ///   - now: the same, by this machine's clock.
  /// - Returns: nil if there is no doubt: while the clock is right, an old time is that of an old recording.
  package init?(modified: Int64, now: Int64) {
    if modified < Limits.clocksAreSetSince {
      self = .neverSet
    } else if now < Limits.builtOn {
      guard modified < Limits.builtOn else { return nil }
      self = .wrongClock
    } else if modified > now + Limits.futureSeconds {
      self = .future
    } else {
      return nil
    }
  }

  /// Whether a file that was found in a directory, perhaps just now, gets today's date: a camera without a clock never has another one.
  package func meansToday(now: Int64) -> Bool { self == .neverSet && now >= Limits.builtOn }
}

extension Limits {
  /// A file from so much later than now has a wrong time, if the clock is not wrong, in seconds.
  static let futureSeconds: Int64 = 366 * 24 * 3600
}
