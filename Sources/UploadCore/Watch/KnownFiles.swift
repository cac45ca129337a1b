/// The keys of files that need no action, so that a scan need not look for their records again. It forgets some when it is full; such
/// files are then looked up again.
struct KnownFiles: Sendable {
  private static let depth = 4
  private var keys = [UInt64](repeating: 0, count: 256 * KnownFiles.depth)

  /// The capacity, in keys.
  var count: Int { keys.count }

  func contains(_ key: UInt64) -> Bool {
    let first = bucket(key)
    return keys[first..<(first + KnownFiles.depth)].contains(key)
  }

  mutating func insert(_ key: UInt64) {
    guard !contains(key) else { return }
    let first = bucket(key)
    let last = first + KnownFiles.depth - 1
    if keys[last] != 0, keys.count < Limits.watchedKnownCount {
      grow()
      return insert(key)
    }
    // The oldest one is dropped.
    for index in stride(from: last, to: first, by: -1) { keys[index] = keys[index - 1] }
    keys[first] = key
  }

  private func bucket(_ key: UInt64) -> Int {
    Int(key % UInt64(keys.count / KnownFiles.depth)) * KnownFiles.depth
  }

  private mutating func grow() {
    let old = keys
    keys = [UInt64](repeating: 0, count: old.count * 2)
    for key in old.reversed() where key != 0 { insert(key) }
  }
}
