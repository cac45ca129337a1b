extension UploadRecord {
  /// The most keys in ``indexKeys``.
  package static let indexKeyCount = 5

  /// The keys of the record: of its upload, and as long as it is open, of its file whatever the destination.
  package var indexKeys: [IndexKey] { uploadKeys + (phase == .delivered ? [] : fileKeys) }

  /// The keys by which unfinished uploads of the same file are found, to whatever destination.
  package var fileKeys: [IndexKey] { [.anyPath(self)] + (file.identity.hasStableInode ? [.anyFile(self)] : []) }

  /// Of its file and content, of its path as long as it is open, and of the recording that it can delete.
  private var uploadKeys: [IndexKey] {
    guard let delivery else { return [.path(self), .file(self), .content(self)] }
    var keys: [IndexKey] = [.file(self), .content(self)] + deliveryKeys(delivery)
    if let assetID = delivery.assetID, delivery.deleteToken != nil {
      keys.append(.asset(assetID, endpoint: destination.endpoint))
    }
    return keys
  }

  /// The keys by which a file is recognized as delivered: by its status without reading the record, or by its place.
  private func deliveryKeys(_ delivery: RecordedDelivery) -> [IndexKey] {
    let isPlain = file.identity.hasStableInode && delivery.deletion != .done
    let status = isPlain ? delivery.statusTime.map { IndexKey.status(self, $0) } : nil
    return [.place(self)] + (status.map { [$0] } ?? [])
  }

  /// The keys by which earlier records of the same file are found.
  package var searchKeys: [IndexKey] { uploadKeys + [.place(self)] }

  /// How two records match.
  package enum Match: Equatable {
    /// The same path, or the same file on the disk and unchanged.
    case same
    /// A file with the same name and content, possibly on another disk. It is the same upload if the file of `previous` is
    /// missing at its path.
    case moved
    /// The file at this path has been written since it was delivered, with the same size and edges, as by a camera that writes its card
    /// again. A SHA-256 tells whether it has the same content.
    case rewritten
  }

  /// Whether `previous` is the record of the upload that this one would start, or of the same recording that was delivered there.
  package func match(with previous: UploadRecord) -> Match? {
    destination.event == previous.destination.event ? matchOfAnyEvent(with: previous) : nil
  }

  /// Whether `previous` is a delivery of the same recording to another event of the same server.
  package func isOfOtherEvent(_ previous: UploadRecord) -> Bool {
    guard destination.event != previous.destination.event, previous.phase == .delivered else { return false }
    return [.same, .moved].contains(matchOfAnyEvent(with: previous))
  }

  private func matchOfAnyEvent(with previous: UploadRecord) -> Match? {
    guard previous.destination.endpoint == destination.endpoint else { return nil }
    if previous.file.path == file.path, previous.phase != .delivered { return .same }
    // A file that has changed since its delivery is another recording.
    if let change = file.identity.change(since: previous.file.identity) {
      let isRewritten = change == .modificationTime && previous.file.path == file.path
      return isRewritten && previous.delivery?.sha256 != nil ? .rewritten : nil
    }
    if previous.file.path == file.path { return .same }
    if file.identity.isSameFile(as: previous.file.identity) { return .same }
    let names = [previous, self].map { $0.file.path.lastComponentBytes }
    return names[0] == names[1] ? .moved : nil
  }

  /// How certain it is that this file, which matches a delivered one, has the content that was delivered.
  /// - Parameter changed: its status time.
  package func evidence(of previous: UploadRecord, changed: StatusTime) -> PreviousDelivery.Evidence {
    let delivery = previous.delivery
    if file.isUntouched(changed, since: previous.file, delivery?.statusTime) { return .untouched }
    return delivery?.sha256 == nil ? .incomparable : .comparable
  }

  /// Whether this upload is unfinished and may still need the file of a delivered one, whatever the destinations: the file at its path,
  /// or its file under another name.
  package func mayNeed(fileOf delivered: UploadRecord) -> Bool {
    guard let unfinished else { return false }
    let isUnchanged = delivered.file.identity.change(since: file.identity) == nil
    if file.path == delivered.file.path {
      // One that may be stored is never sent with other content.
      return isUnchanged || !mayBeStored && !unfinished.lastByteMayBeSent
    }
    return isUnchanged && file.identity.isSameFile(as: delivered.file.identity)
  }

  /// Records with an upload on the server rank first, then those without, delivered ones, and those whose recording was deleted there. The
  /// time decides only between equals, because clocks of boards jump.
  package var rank: (Int, Int64) {
    let phaseRank = phase == .delivered ? (delivery?.deletion == .done ? 0 : 1) : remote == nil ? 2 : 3
    return (phaseRank, createdAt)
  }
}
