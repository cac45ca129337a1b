extension UploadRecord {
  /// The most that ``indexKeys`` are.
  package static let indexKeyCount = 3

  /// What it is found by: an open one as the upload of its file, a delivered one by the recording that it can delete.
  package var indexKeys: [IndexKey] {
    guard phase == .delivered else { return [.path(self), .file(self), .content(self)] }
    guard let assetID, deleteToken != nil else { return [] }
    return [.asset(assetID, endpoint: endpoint)]
  }

  /// What tells that two records are of the same upload.
  package enum Match: Equatable {
    /// The same path, or the same file on the disk and unchanged.
    case same
    /// A file of the same name and content, that may have come to another disk. It is the same if `previous`'s is there no more.
    case moved
  }

  /// Is `previous` the record of the upload that this one would begin?
  package func match(with previous: UploadRecord) -> Match? {
    guard previous.endpoint == endpoint, previous.phase != .delivered else { return nil }
    if previous.path == path { return .same }
    guard identity.change(since: previous.identity) == nil else { return nil }
    if identity.isSameFile(as: previous.identity) { return .same }
    let names = [previous, self].map { LocalPath(bytes: $0.path).lastComponentBytes }
    return names[0] == names[1] ? .moved : nil
  }

  /// One with an upload goes before one without. Clocks of boards jump, so that the time decides between equals only.
  package var rank: (Int, Int64) { (uploadURL == nil ? 0 : 1, createdAt) }
}
