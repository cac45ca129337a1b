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

  mutating func drop(under prefix: [UInt8]) { setAside.removeAll { $0.path.starts(with: prefix) } }
}

/// A recording that is not tried again until it changes.
struct SetAsideFile: Sendable {
  let key: UInt64
  let path: [UInt8]
  /// Nil if there are too many.
  let shown: WatchSnapshot.SetAside?
}
