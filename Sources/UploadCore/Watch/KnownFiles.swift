/// The keys of files that need no action, so that a scan need not look for their records again. It forgets some when it is full; such
/// files are then looked up again.
struct KnownFiles: Sendable {
  /// A key is in its own slot or, with others in between, in one of the next ones. 0 is an empty slot.
  private var slots = [UInt64](repeating: 0, count: 1024)
  private var usedCount = 0

  /// The capacity, in keys.
  var count: Int { slots.count }

  func contains(_ key: UInt64) -> Bool { slots[slot(of: key)] != 0 }

  mutating func insert(_ key: UInt64) {
    let key = max(1, key)
    var slot = slot(of: key)
    if slots[slot] == key { return }
    if isFull {
      guard slots.count >= Limits.watchedKnownCount else {
        grow()
        return insert(key)
      }
      // The one in its own slot is forgotten.
      slot = first(key)
    }
    if slots[slot] == 0 { usedCount += 1 }
    slots[slot] = key
  }

  /// An eighth stays empty, so that a search ends soon.
  private var isFull: Bool { usedCount >= slots.count - slots.count / 8 }

  private func first(_ key: UInt64) -> Int { Int(key % UInt64(slots.count)) }

  /// Where the key is, or the empty slot where it would be.
  private func slot(of key: UInt64) -> Int {
    let key = max(1, key)
    var slot = first(key)
    while slots[slot] != key, slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 2)
    usedCount = 0
    for key in old where key != 0 { insert(key) }
  }
}

/// What was found out about a file in a watched directory.
package struct WatchedFile: Equatable, Sendable {
  /// A hash of the path, the file's identity, its times and those of its sidecar file: a file with another key has changed.
  package var key: UInt64
  /// The file that the worker is to send, and no other one.
  package var seen: FileSighting
  /// nil if they were not asked for.
  package var writers: FileWriters?
  /// Whether a mark beside it says that it is unfinished. Then it has a writer, whatever the kernel says.
  package var isMarked = false
  /// Whether there is a record of its upload, which was interrupted.
  package var isBegun: Bool
  /// Until when it waits, by its record; nil if it does not.
  package var pause: Pause?

  /// Why a recording is not sent now: it was sent completely as often as is allowed within a day, in vain.
  package struct Pause: Equatable, Sendable {
    /// In milliseconds from now.
    package let remaining: Int64
    /// From when on a sign that the server works again allows it nevertheless, in milliseconds from now; 0 for now.
    let untilExtra: Int64
    /// The error of the last attempt.
    package let message: String?

    /// - Returns: nil if it need not wait.
    package init?(_ sends: FullSends, message: String?, unixSeconds: Int64) {
      guard sends.areUsedUp, sends.allowedAtSeconds > unixSeconds,
        sends.allowedAtSeconds - max(unixSeconds, 0) <= Limits.fullSendSeconds
      else { return nil }
      remaining = (sends.allowedAtSeconds - max(unixSeconds, 0)) * 1000
      untilExtra = max(0, min(sends.extraAllowedAtSeconds - max(unixSeconds, 0), Limits.fullSendExtraSeconds)) * 1000
      self.message = message
    }
  }

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

extension Array {
  /// The first element for which `precedes` is false, or the end. The elements are sorted: it is true for those before, and for no other one.
  func lowerBound(where precedes: (Element) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = precedes(self[middle]) ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

extension Limits {
  /// Keys of files that need no action, so that a scan does not look for their records, and a failure is reported once: 1 MiB at most.
  static let watchedKnownCount = 128 << 10
}
