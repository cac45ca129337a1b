extension UploadRecord {
  /// The most keys in ``indexKeys``.
  package static let indexKeyCount = 3

  /// The keys of the record: of its file for an open record, of the recording it can delete for a delivered one.
  package var indexKeys: [IndexKey] {
    guard phase == .delivered else { return [.path(self), .file(self), .content(self)] }
    guard let assetID, deleteToken != nil else { return [] }
    return [.asset(assetID, endpoint: endpoint)]
  }

  /// How two records match.
  package enum Match: Equatable {
    /// The same path, or the same file on the disk and unchanged.
    case same
    /// A file with the same name and content, possibly on another disk. It is the same upload if the file of `previous` is
    /// gone.
    case moved
  }

  /// Whether `previous` is the record of the upload that this one would start.
  package func match(with previous: UploadRecord) -> Match? {
    guard previous.endpoint == endpoint, previous.phase != .delivered else { return nil }
    if previous.path == path { return .same }
    guard identity.change(since: previous.identity) == nil else { return nil }
    if identity.isSameFile(as: previous.identity) { return .same }
    let names = [previous, self].map { LocalPath(bytes: $0.path).lastComponentBytes }
    return names[0] == names[1] ? .moved : nil
  }

  /// Records with an upload on the server rank first. The time decides only between equals, because clocks of boards jump.
  package var rank: (Int, Int64) { (uploadURL == nil ? 0 : 1, createdAt) }
}
