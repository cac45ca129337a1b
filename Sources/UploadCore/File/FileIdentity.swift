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

  /// The shifts of time zones are multiples of this, in seconds.
  private static let timeShift: Int64 = 900
  /// From UTC-12 to UTC+14, in seconds.
  private static let largestTimeShift: Int64 = 26 * 3600
  /// The times of FAT, in seconds.
  private static let timeResolution: Int64 = 2
}
