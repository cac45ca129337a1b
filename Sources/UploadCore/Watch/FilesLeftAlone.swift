/// The files that nothing is done about until they change.
struct FilesLeftAlone: Sendable {
  /// Delivered, or not to be sent.
  var known = KnownFiles()
  /// Those that failed.
  var setAside: [SetAsideFile] = []

  /// Whether it failed, and has not changed since.
  func isSetAside(_ file: WatchedFile) -> Bool { setAside.contains { $0.key == file.key } }

  mutating func setAside(_ candidate: WatchCandidate, _ judgement: WatchCandidate.Judgement) {
    guard setAside.count < Limits.watchSetAsideCount else { return known.insert(candidate.file.key) }
    let shown = WatchSnapshot.SetAside(
      id: judgement.id, path: candidate.path, message: judgement.message, since: judgement.since)
    let hasRoom = setAside.count < Limits.watchSetAsideMessages
    setAside.append(SetAsideFile(key: candidate.file.key, path: candidate.path, shown: hasRoom ? shown : nil))
  }

  /// What is at the path is examined as if it were new.
  mutating func drop(_ path: [UInt8]) { setAside.removeAll { $0.path == path } }

  /// The known ones have no paths, so all of them are looked up again.
  mutating func forget(under prefix: [UInt8]) {
    known = KnownFiles()
    setAside.removeAll { $0.path.starts(with: prefix) }
  }
}

/// The sizes of the recordings that were delivered last, by path. The writer of one that has grown since closes it after each take, or
/// saves it from time to time: it is given more time to settle, so that not every stage of it is delivered.
struct DeliveredSizes: Sendable {
  private var entries: [(path: UInt64, size: Int64)] = []

  mutating func note(_ path: [UInt8], _ size: Int64) {
    let path = WatchedFile.key(path, [])
    entries.removeAll { $0.path == path }
    if entries.count == Limits.watchedGrowthCount { entries.removeFirst() }
    entries.append((path, size))
  }

  func hasGrown(_ path: [UInt8], to size: Int64) -> Bool {
    let path = WatchedFile.key(path, [])
    return entries.contains { $0.path == path && $0.size < size }
  }
}

/// A recording that is not tried again until it changes.
struct SetAsideFile: Sendable {
  let key: UInt64
  let path: [UInt8]
  /// Nil if there are too many.
  let shown: WatchSnapshot.SetAside?
}
