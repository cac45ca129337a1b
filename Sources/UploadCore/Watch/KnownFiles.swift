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
