/// What a look at a file of a watched directory found.
package struct WatchedFile: Equatable, Sendable {
  package enum Writers: Sendable {
    case none, some
    /// The file system or the permissions do not let this process see them.
    case unknown
    case notAskedFor
  }

  /// A hash of the path, the file's identity, its times and those of the file beside it: what has another key has changed.
  package var key: UInt64
  /// Bytes.
  package var size: Int64
  /// In seconds since 1970.
  package var modifiedSeconds: Int64
  package var writers: Writers
  /// Whether there is a record of its upload, which was interrupted.
  package var isBegun: Bool

  package init(
    key: UInt64, size: Int64, modifiedSeconds: Int64, writers: Writers = .notAskedFor, isBegun: Bool = false
  ) {
    self.key = key
    self.size = size
    self.modifiedSeconds = modifiedSeconds
    self.writers = writers
    self.isBegun = isBegun
  }

  package static func key(_ path: [UInt8], _ numbers: [UInt64]) -> UInt64 { IndexKey.watched(path, numbers) }
}

/// What is at a path of a watched directory.
package enum FileInspection: Equatable, Sendable {
  /// Nothing, or nothing that is taken.
  case nothing
  /// What was there at the last look, which needs nothing.
  case known
  /// A recording that was delivered to the destination, with its ``WatchedFile/key``.
  case delivered(key: UInt64)
  case file(WatchedFile)
}
