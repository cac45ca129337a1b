/// What was found out about a file in a watched directory.
package struct WatchedFile: Equatable, Sendable {
  /// A hash of the path, the file's identity, its times and those of its sidecar file: a file with another key has changed.
  package var key: UInt64
  /// The file that the worker is to send, and no other one.
  package var seen: FileSighting
  /// nil if they were not asked for.
  package var writers: FileWriters?
  /// Whether there is a record of its upload, which was interrupted.
  package var isBegun: Bool

  package init(key: UInt64, seen: FileSighting, writers: FileWriters? = nil, isBegun: Bool = false) {
    self.key = key
    self.seen = seen
    self.writers = writers
    self.isBegun = isBegun
  }

  /// In bytes, at most ``Limits/fileSize``, so that sums of sparse files do not overflow.
  package var size: Int64 { min(seen.identity.size, Limits.fileSize) }
  /// In seconds since 1970.
  package var modifiedSeconds: Int64 { seen.identity.modifiedSeconds }

  package static func key(_ path: [UInt8], _ numbers: [UInt64]) -> UInt64 { IndexKey.watched(path, numbers) }
}

/// What is at a path of a watched directory.
package enum FileInspection: Equatable, Sendable {
  /// Nothing, or nothing to send.
  case nothing
  /// The same file as at the last examination, which needs no action.
  case known
  /// A recording that was delivered to the destination, with its ``WatchedFile/key``.
  case delivered(key: UInt64)
  case file(WatchedFile)
  /// It cannot be examined now.
  case unknown
}
